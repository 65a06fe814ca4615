// What connections cost that have nothing to do.

#include <vector>

#include "bench/measurements.h"

namespace rocelane::bench {
namespace {

constexpr size_t kRoundsTried = 100;
constexpr RepetitionBounds kRounds{100, 100'000};
constexpr size_t kRoundsCounted = 50;
constexpr size_t kMessageBytes = 8;

Wanted wanted_for(const Options& options) {
  Wanted wanted;
  wanted.connections.assign(static_cast<size_t>(options.connections), {kThere, kMessageBytes});
  return wanted;
}

Request rounds_over(Measurement what) {
  Request request;
  request.what = what;
  request.one_thread = true;
  return request;
}

// Nanoseconds a round, by net.
Result<std::vector<Quartiles>> time_rounds(Referee& referee, Contestants& contestants,
                                           Measurement what) {
  const Options& options = referee.options();
  const double measurements = 2.0 * options.repeats * static_cast<double>(contestants.size());
  Request request = rounds_over(what);
  const Result<size_t> rounds = referee.calibrate(contestants, request, kRoundsTried,
                                                  options.seconds / measurements, kRounds);
  if (!rounds) {
    return rounds.error();
  }
  request.messages = *rounds;
  std::vector<std::vector<double>> times_ns(contestants.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    const Result<Answers> answers = referee.ask_all(contestants, request);
    if (!answers) {
      return answers.error();
    }
    for (size_t net = 0; net < times_ns.size(); ++net) {
      times_ns[net].push_back((*answers)[net].seconds * 1e9 / static_cast<double>(*rounds));
    }
  }
  std::vector<Quartiles> result;
  for (const std::vector<double>& times : times_ns) {
    result.push_back(quartiles(times));
  }
  return result;
}

Result<std::vector<CountResult>> count_rounds(Referee& referee, Contestants& contestants,
                                              Measurement what, bool instructions) {
  Request request = rounds_over(what);
  request.messages = kRoundsCounted;
  request.count_instructions = instructions;
  const Result<Answers> answers = referee.ask_all(contestants, request);
  if (!answers) {
    return answers.error();
  }
  std::vector<CountResult> results;
  for (const Answer& answer : *answers) {
    results.push_back({0, kRoundsCounted, answer.counts, answer.instructions});
  }
  return results;
}

Status count_idle(Referee& referee) {
  Wanted wanted = wanted_for(referee.options());
  wanted.in_callgrind = referee.can_count_instructions();
  Result<Contestants> contestants = referee.start(wanted);
  if (!contestants) {
    return contestants.error();
  }
  const auto receives =
      count_rounds(referee, *contestants, Measurement::kIdleReceives, wanted.in_callgrind);
  const auto sends =
      receives ? count_rounds(referee, *contestants, Measurement::kIdleSends, wanted.in_callgrind)
               : receives;
  if (!sends) {
    return sends.error();
  }
  for (size_t net = 0; net < referee.nets(); ++net) {
    referee.report().nets[net].idle->receives = (*receives)[net];
    referee.report().nets[net].idle->sends = (*sends)[net];
  }
  return referee.close(*contestants);
}

}  // namespace

Status measure_idle(Referee& referee) {
  Result<Contestants> contestants = referee.start(wanted_for(referee.options()));
  if (!contestants) {
    return contestants.error();
  }
  const auto receives = time_rounds(referee, *contestants, Measurement::kIdleReceives);
  const auto sends =
      receives ? time_rounds(referee, *contestants, Measurement::kIdleSends) : receives;
  if (!sends) {
    return sends.error();
  }
  for (size_t net = 0; net < referee.nets(); ++net) {
    referee.report().nets[net].idle = {(*receives)[net], (*sends)[net], {}, {}};
  }
  if (const Status closed = referee.close(*contestants); !closed) {
    return closed;
  }
  return referee.options().counts ? count_idle(referee) : Status();
}

}  // namespace rocelane::bench
