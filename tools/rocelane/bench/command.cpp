#include "bench/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "bench/bench.h"
#include "bench/report.h"
#include "bench/worker_process.h"

namespace rocelane::bench {
namespace {

enum ExitCode : int { kExitFine = 0, kExitBadInput = 2, kExitFailed = 3, kExitInterrupted = 130 };

// Before minutes of measuring.
Status check_writable(const std::string& path) {
  if (path.empty() || std::ofstream(path, std::ios::app)) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--json {} cannot be written: {}.", path, std::strerror(errno))};
}

int fail(const Error& error) {
  fmt::print(stderr, "rocelane bench: {}\n", error.what);
  return error.code == ErrorCode::kInvalidArgument ? kExitBadInput : kExitFailed;
}

Status write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    return Error{ErrorCode::kSystem,
                 fmt::format("{} cannot be written: {}.", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace

int run_bench(const CommandLine& line) {
  const Result<Options> options = interpret(line);
  if (!options) {
    return fail(options.error());
  }
  if (const Status writable = check_writable(options->json_file); !writable) {
    return fail(writable.error());
  }
  catch_interrupts();
  const Result<Report> report = measure(*options);
  if (was_interrupted()) {
    fmt::print(stderr, "rocelane bench: interrupted.\n");
    return kExitInterrupted;
  }
  if (!report) {
    return fail(report.error());
  }
  fmt::print("{}", text_report(*options, *report));
  std::fflush(stdout);
  if (!options->json_file.empty()) {
    if (const Status written = write_text_file(options->json_file, json_report(*options, *report));
        !written) {
      return fail(written.error());
    }
  }
  return kExitFine;
}

}  // namespace rocelane::bench
