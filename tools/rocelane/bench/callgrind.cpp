#include "bench/callgrind.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define ROCELANE_BENCH_HAS_CALLGRIND 1
#else
#define ROCELANE_BENCH_HAS_CALLGRIND 0
#endif

namespace rocelane::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "profile";

bool is_in_path(const std::string& program) {
  const char* variable = std::getenv("PATH");
  std::string path = variable == nullptr ? "" : variable;
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    std::error_code ignored;
    if (fs::exists(fs::path(path.substr(0, end)) / program, ignored)) {
      return true;
    }
    path.erase(0, end + 1);
  }
  return false;
}

// Every dump is a file of its own; only the last one is there.
Result<fs::path> take_dump(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(fmt::format("{}.", kFile))) {
      return entry.path();
    }
  }
  return Error{ErrorCode::kSystem,
               fmt::format("Callgrind has left no profile in {}; use --no-callgrind.", folder)};
}

}  // namespace

std::string what_callgrind_needs() {
  if (!ROCELANE_BENCH_HAS_CALLGRIND) {
    return "this program was built without valgrind/callgrind.h (Debian package valgrind)";
  }
  if (!is_in_path("valgrind")) {
    return "valgrind is not in PATH (Debian package valgrind)";
  }
  return {};
}

std::vector<std::string> callgrind_command(const std::string& folder) {
  return {"valgrind",
          "--tool=callgrind",
          fmt::format("--callgrind-out-file={}/{}", folder, kFile),
          fmt::format("--log-file={}/log", folder),
          "--instr-atstart=no",
          "--collect-atstart=no",
          "--fair-sched=try"};
}

#if ROCELANE_BENCH_HAS_CALLGRIND

// Collecting is switched for the calling thread alone.
void start_counting_instructions() {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}

Result<InstructionsByObject> stop_counting_instructions(const std::string& folder,
                                                        const std::string& keep_as) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS;
  CALLGRIND_STOP_INSTRUMENTATION;
  const Result<fs::path> dump = take_dump(folder);
  if (!dump) {
    return dump.error();
  }
  std::ifstream file(*dump, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::error_code error;
  if (!keep_as.empty() &&
      !fs::copy_file(*dump, keep_as, fs::copy_options::overwrite_existing, error)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("The profile {} cannot be written: {}.", keep_as, error.message())};
  }
  fs::remove(*dump, error);
  return parse_profile(text, dump->string());
}

#else

void start_counting_instructions() {}

Result<InstructionsByObject> stop_counting_instructions(const std::string&, const std::string&) {
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("Instructions cannot be counted: {}.", what_callgrind_needs())};
}

#endif

}  // namespace rocelane::bench
