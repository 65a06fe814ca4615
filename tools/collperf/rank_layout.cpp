#include "collperf/rank_layout.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

Result<int> number_from(const Environment& environment, const char* name, int smallest, int largest,
                        int otherwise) {
  const std::optional<std::string> text = environment(name);
  if (!text) {
    return otherwise;
  }
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || rest != end || value < smallest || value > largest) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}={} in the environment must be a whole number from {} to {}.", name,
                             *text, smallest, largest)};
  }
  return value;
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<RankLayout> rank_layout_from(const Environment& environment, int gpus) {
  constexpr int kLargest = std::numeric_limits<int>::max();
  RankLayout layout;
  layout.gpus = gpus;
  const Result<int> processes = number_from(environment, "WORLD_SIZE", 1, kLargest, 1);
  if (!processes) {
    return processes.error();
  }
  layout.processes = *processes;
  if (layout.processes > 1 && !environment("RANK")) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("WORLD_SIZE is {} but RANK is not set: set RANK to 0 ... {}, a "
                             "different one for each process.",
                             layout.processes, layout.processes - 1)};
  }
  const Result<int> process = number_from(environment, "RANK", 0, layout.processes - 1, 0);
  if (!process) {
    return process.error();
  }
  layout.process = *process;
  const Result<int> local = number_from(environment, "LOCAL_RANK", 0, kLargest, 0);
  if (!local) {
    return local.error();
  }
  layout.local_process = *local;
  const Result<int> port = number_from(environment, "MASTER_PORT", 1, 65535, layout.meeting_port);
  if (!port) {
    return port.error();
  }
  layout.meeting_port = static_cast<uint16_t>(*port);
  layout.meeting_host = environment("MASTER_ADDR").value_or(layout.meeting_host);
  return layout;
}

}  // namespace rocelane::collperf
