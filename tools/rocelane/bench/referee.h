#pragma once

// What every kind of measurement needs: the nets started alike, asked alike and in turn.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/contestants.h"
#include "bench/options.h"
#include "bench/repetition.h"
#include "bench/report.h"

namespace rocelane::bench {

using Contestants = std::vector<Contestant>;
using Answers = std::vector<Answer>;  // by contestant

class Referee {
 public:
  // `options` must outlive it. `fabric`: the text of the file, if there is one.
  Referee(const Options& options, std::optional<std::string> fabric);

  const Options& options() const { return options_; }
  Report& report() { return report_; }
  size_t nets() const { return report_.nets.size(); }

  // One net, by its number in the report, or all of them. They are noted in the report.
  Result<Contestant> start_one(size_t net, const Wanted& wanted);
  Result<Contestants> start(const Wanted& wanted);
  Status close(Contestants& contestants);

  // The same request to each, one after another.
  Result<Answers> ask_all(Contestants& contestants, const Request& request);

  // How often to do what `request` says once, so that it takes about `target_s` with the slowest.
  // `tried`: how often to try.
  Result<size_t> calibrate(Contestants& contestants, Request request, size_t tried, double target_s,
                           RepetitionBounds bounds);

  // Whether instructions can be counted; when not, the report says why.
  bool can_count_instructions();

 private:
  Result<double> time(Contestant& contestant, const Request& request);

  const Options& options_;
  std::optional<std::string> fabric_;
  Report report_;
};

// Seconds by the steady clock.
double real_seconds(const std::function<void()>& what);

}  // namespace rocelane::bench
