// How long connections take to set up, and how much memory they keep.

#include <optional>
#include <vector>

#include "bench/measurements.h"

namespace rocelane::bench {
namespace {

constexpr size_t kMessageBytes = 8;
constexpr int kFewestRepeats = 3;

// By repeat.
struct Samples {
  std::vector<double> seconds;
  std::vector<double> own_bytes;
  std::vector<double> shared_bytes;

  void add(const SetUpAnswer& answer) {
    const double connections = answer.connections;
    seconds.push_back(answer.seconds);
    own_bytes.push_back(static_cast<double>(answer.own_bytes) / connections);
    shared_bytes.push_back(static_cast<double>(answer.shared_bytes) / connections);
  }
};

// A process that has had connections keeps memory for the next ones, so each time needs a new one.
Status set_up_once(Referee& referee, size_t net, const Wanted& wanted, Samples& samples) {
  Result<Contestant> one = referee.start_one(net, wanted);
  if (!one) {
    return one.error();
  }
  samples.add(one->set_up);
  return one->process.close();
}

}  // namespace

Status measure_set_up(Referee& referee) {
  const Options& options = referee.options();
  Wanted wanted;
  wanted.connections.assign(static_cast<size_t>(options.connections), {kThere, kMessageBytes});
  std::vector<Samples> samples(referee.nets());
  double spent_s = 0;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    if (repeat >= kFewestRepeats && spent_s > options.seconds) {
      break;
    }
    for (size_t net = 0; net < samples.size(); ++net) {
      Status done;
      spent_s += real_seconds([&] { done = set_up_once(referee, net, wanted, samples[net]); });
      if (!done) {
        return done;
      }
    }
  }
  for (size_t net = 0; net < samples.size(); ++net) {
    referee.report().nets[net].set_up = {quartiles(samples[net].seconds),
                                         quartiles(samples[net].own_bytes),
                                         quartiles(samples[net].shared_bytes)};
  }
  return {};
}

}  // namespace rocelane::bench
