// Latency, bandwidth and message rate by size, and what a message costs.

#include <algorithm>
#include <vector>

#include "bench/measurements.h"

namespace rocelane::bench {
namespace {

constexpr size_t kRoundTripsTried = 16;
constexpr RepetitionBounds kRoundTrips{16, 5'000};
constexpr size_t kMostMessages = 20'000;
constexpr size_t kWarmUpMessages = 256;
constexpr size_t kMostCountedBytes = size_t{1} << 30;
constexpr size_t kLeastCounted = 64;

// The streams' connections come first, then one to measure latency with, and the way back.
int ping(const Options& options) { return options.connections; }
int pong(const Options& options) { return options.connections + 1; }

Wanted wanted_for(const Options& options) {
  const size_t largest = *std::ranges::max_element(options.sizes);
  Wanted wanted;
  wanted.connections.assign(static_cast<size_t>(options.connections),
                            {kThere, options.load_bytes.value_or(largest)});
  wanted.connections.push_back({kThere, largest});
  wanted.connections.push_back({kBack, largest});
  wanted.seed = options.seed;
  return wanted;
}

// Seconds for one measurement, when all of them take what the user gave.
double target_s(const Options& options, size_t nets) {
  const size_t kinds = options.load_bytes ? 1 : 2;
  const auto repeats = static_cast<size_t>(options.repeats);
  return options.seconds / static_cast<double>(options.sizes.size() * nets * repeats * kinds);
}

struct Plan {
  Request round_trips;
  std::optional<Request> stream;  // none: latency alone
};

Result<Plan> plan_for(Referee& referee, Contestants& contestants, size_t bytes) {
  const Options& options = referee.options();
  const double target = target_s(options, contestants.size());
  Plan plan;
  plan.round_trips.what = Measurement::kPingPong;
  plan.round_trips.bytes = bytes;
  plan.round_trips.connections = options.connections;
  plan.round_trips.ping = ping(options);
  plan.round_trips.pong = pong(options);
  plan.round_trips.load_bytes = options.load_bytes.value_or(0);
  const Result<size_t> trips =
      referee.calibrate(contestants, plan.round_trips, kRoundTripsTried, target, kRoundTrips);
  if (!trips) {
    return trips.error();
  }
  plan.round_trips.messages = *trips;
  if (options.load_bytes) {
    return plan;
  }
  plan.stream.emplace();
  plan.stream->bytes = bytes;
  plan.stream->connections = options.connections;
  const auto window = static_cast<size_t>(options.window);
  const Result<size_t> messages =
      referee.calibrate(contestants, *plan.stream, 2 * window, target, {4 * window, kMostMessages});
  if (!messages) {
    return messages.error();
  }
  plan.stream->messages = *messages;
  return plan;
}

// By repeat.
struct Samples {
  std::vector<double> latency_us;
  std::vector<double> slowest_us;
  std::vector<double> messages_per_s;
};

SizeResult result_of(size_t bytes, const Samples& samples) {
  SizeResult result;
  result.bytes = bytes;
  result.latency_us = quartiles(samples.latency_us);
  result.slowest_us = quartiles(samples.slowest_us);
  result.messages_per_s = quartiles(samples.messages_per_s);
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  result.megabytes_per_s = {result.messages_per_s.first * megabytes,
                            result.messages_per_s.median * megabytes,
                            result.messages_per_s.third * megabytes};
  return result;
}

Status measure_size(Referee& referee, Contestants& contestants, size_t bytes) {
  const Result<Plan> plan = plan_for(referee, contestants, bytes);
  if (!plan) {
    return plan.error();
  }
  std::vector<Samples> samples(contestants.size());
  for (int repeat = 0; repeat < referee.options().repeats; ++repeat) {
    const Result<Answers> pinged = referee.ask_all(contestants, plan->round_trips);
    const Result<Answers> streamed =
        pinged && plan->stream ? referee.ask_all(contestants, *plan->stream) : pinged;
    if (!streamed) {
      return streamed.error();
    }
    for (size_t net = 0; net < samples.size(); ++net) {
      const std::vector<double>& round_trips_us = (*pinged)[net].round_trips_us;
      samples[net].latency_us.push_back(quantile(round_trips_us, 0.5) / 2);
      samples[net].slowest_us.push_back(quantile(round_trips_us, 0.99) / 2);
      if (plan->stream) {
        const double messages = static_cast<double>(plan->stream->messages) *
                                static_cast<double>(plan->stream->connections);
        samples[net].messages_per_s.push_back(messages / (*streamed)[net].seconds);
      }
    }
  }
  for (size_t net = 0; net < samples.size(); ++net) {
    referee.report().nets[net].sizes.push_back(result_of(bytes, samples[net]));
  }
  return {};
}

// One thread plays both ends, so that every run takes the same steps.
Status count_size(Referee& referee, Contestants& contestants, size_t bytes, bool instructions) {
  const Options& options = referee.options();
  const auto connections = static_cast<size_t>(options.connections);
  const size_t messages =
      std::min(static_cast<size_t>(options.messages),
               std::max(kLeastCounted, kMostCountedBytes / bytes / connections));
  Request request;
  request.bytes = bytes;
  request.connections = options.connections;
  request.one_thread = true;
  request.messages = std::min(messages, kWarmUpMessages);
  const Result<Answers> warmed_up = referee.ask_all(contestants, request);
  request.messages = messages;
  request.count_instructions = instructions;
  const Result<Answers> counted = warmed_up ? referee.ask_all(contestants, request) : warmed_up;
  if (!counted) {
    return counted.error();
  }
  for (size_t net = 0; net < counted->size(); ++net) {
    const Answer& answer = (*counted)[net];
    referee.report().nets[net].counts.push_back(
        {bytes, messages * connections, answer.counts, answer.instructions});
  }
  return {};
}

Status count_sizes(Referee& referee) {
  Wanted wanted = wanted_for(referee.options());
  wanted.in_callgrind = referee.can_count_instructions();
  Result<Contestants> contestants = referee.start(wanted);
  if (!contestants) {
    return contestants.error();
  }
  for (const size_t bytes : referee.options().sizes) {
    if (const Status counted = count_size(referee, *contestants, bytes, wanted.in_callgrind);
        !counted) {
      return counted;
    }
  }
  return referee.close(*contestants);
}

}  // namespace

Status measure_sizes(Referee& referee) {
  Result<Contestants> contestants = referee.start(wanted_for(referee.options()));
  if (!contestants) {
    return contestants.error();
  }
  for (const size_t bytes : referee.options().sizes) {
    if (const Status measured = measure_size(referee, *contestants, bytes); !measured) {
      return measured;
    }
  }
  if (const Status closed = referee.close(*contestants); !closed) {
    return closed;
  }
  return referee.options().counts ? count_sizes(referee) : Status();
}

}  // namespace rocelane::bench
