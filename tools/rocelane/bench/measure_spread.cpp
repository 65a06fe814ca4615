// How evenly a fabric's paths are filled.

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "bench/measurements.h"
#include "bench/paths.h"

namespace rocelane::bench {
namespace {

// What the messages of all connections put on each path.
Result<std::vector<uint64_t>> fill_paths(const Options& options, Contestant& one) {
  const Result<PathAnswer> before = one.process.paths();
  if (!before) {
    return before.error();
  }
  if (before->bytes.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--spread needs a fabric with spines, and {} has none.", options.fabric_file)};
  }
  const int connections = one.set_up.connections;
  Request request;
  request.bytes = options.sizes.front();
  request.messages = static_cast<size_t>((options.messages + connections - 1) / connections);
  request.connections = connections;
  const Result<Answer> sent = one.process.measure(request);
  const Result<PathAnswer> after = sent ? one.process.paths() : Result<PathAnswer>(sent.error());
  if (!after) {
    return after.error();
  }
  std::vector<uint64_t> bytes;
  std::ranges::transform(after->bytes, before->bytes, std::back_inserter(bytes), std::minus<>());
  return bytes;
}

}  // namespace

Status measure_spread(Referee& referee) {
  const Options& options = referee.options();
  Wanted wanted;
  wanted.whole_fabric = options.traffic;
  wanted.whole_fabric_bytes = options.sizes.front();
  for (int seed = 0; seed < options.seeds; ++seed) {
    wanted.seed = options.seed + static_cast<uint64_t>(seed);
    for (size_t net = 0; net < referee.nets(); ++net) {
      Result<Contestant> one = referee.start_one(net, wanted);
      if (!one) {
        return one.error();
      }
      const Result<std::vector<uint64_t>> bytes = fill_paths(options, *one);
      if (!bytes) {
        return bytes.error();
      }
      if (const Status closed = one->process.close(); !closed) {
        return closed;
      }
      referee.report().nets[net].fullest_to_mean.push_back(fullest_to_mean(*bytes));
    }
  }
  return {};
}

}  // namespace rocelane::bench
