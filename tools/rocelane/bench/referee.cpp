#include "bench/referee.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "bench/callgrind.h"

namespace rocelane::bench {
namespace {

Error with_name(const std::string& net, const Error& error) {
  return {error.code, fmt::format("{}: {}", net, error.what)};
}

}  // namespace

double real_seconds(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Referee::Referee(const Options& options, std::optional<std::string> fabric)
    : options_(options), fabric_(std::move(fabric)) {
  report_.nets.resize(nets_of(options).size());
}

Result<Contestant> Referee::start_one(size_t net, const Wanted& wanted) {
  const std::string name = nets_of(options_)[net];
  Result<Contestant> one = start_contestant(options_, name, wanted, fabric_);
  if (!one) {
    return with_name(name, one.error());
  }
  report_.nets[net].net = one->set_up;
  return one;
}

Result<Contestants> Referee::start(const Wanted& wanted) {
  Contestants contestants;
  for (size_t net = 0; net < nets(); ++net) {
    Result<Contestant> one = start_one(net, wanted);
    if (!one) {
      return one.error();
    }
    contestants.push_back(std::move(*one));
  }
  return contestants;
}

Status Referee::close(Contestants& contestants) {
  for (Contestant& contestant : contestants) {
    if (const Status closed = contestant.process.close(); !closed) {
      return with_name(contestant.set_up.net, closed.error());
    }
  }
  contestants.clear();
  return {};
}

Result<Answers> Referee::ask_all(Contestants& contestants, const Request& request) {
  Answers answers;
  for (Contestant& contestant : contestants) {
    Result<Answer> answer = contestant.process.measure(request);
    if (!answer) {
      return with_name(contestant.set_up.net, answer.error());
    }
    answers.push_back(std::move(*answer));
  }
  return answers;
}

// The real time: it is the user's that must not be exceeded.
Result<double> Referee::time(Contestant& contestant, const Request& request) {
  std::optional<Error> failed;
  const double seconds = real_seconds([&] {
    if (const Result<Answer> answer = contestant.process.measure(request); !answer) {
      failed = with_name(contestant.set_up.net, answer.error());
    }
  });
  return failed ? Result<double>(*failed) : Result<double>(seconds);
}

Result<size_t> Referee::calibrate(Contestants& contestants, Request request, size_t tried,
                                  double target_s, RepetitionBounds bounds) {
  request.messages = tried;
  double slowest_s = 0;
  for (Contestant& contestant : contestants) {
    // The first time, nothing is in its place yet.
    const Result<double> first = time(contestant, request);
    const Result<double> second = first ? time(contestant, request) : first;
    if (!second) {
      return second.error();
    }
    slowest_s = std::max(slowest_s, *second);
  }
  return repetitions(target_s, slowest_s, tried, bounds);
}

bool Referee::can_count_instructions() {
  report_.why_no_instructions =
      options_.callgrind ? what_callgrind_needs() : "--no-callgrind was given";
  return report_.why_no_instructions.empty();
}

}  // namespace rocelane::bench
