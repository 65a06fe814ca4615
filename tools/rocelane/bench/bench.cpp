#include "bench/bench.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bench/measurements.h"

namespace rocelane::bench {
namespace {

Result<std::optional<std::string>> read_fabric(const std::string& path) {
  if (path.empty()) {
    return std::optional<std::string>();
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} cannot be read: {}.", path, std::strerror(errno))};
  }
  return std::optional(std::move(text));
}

Status measure_what_is_asked(Referee& referee) {
  switch (referee.options().subject) {
    case Subject::kSizes:
      return measure_sizes(referee);
    case Subject::kIdle:
      return measure_idle(referee);
    case Subject::kSetUp:
      return measure_set_up(referee);
    case Subject::kSpread:
      return measure_spread(referee);
  }
  return {};
}

}  // namespace

Result<Report> measure(const Options& options) {
  Result<std::optional<std::string>> fabric = read_fabric(options.fabric_file);
  if (!fabric) {
    return fabric.error();
  }
  Referee referee(options, std::move(*fabric));
  const Status measured = measure_what_is_asked(referee);
  return measured ? Result<Report>(std::move(referee.report())) : Result<Report>(measured.error());
}

}  // namespace rocelane::bench
