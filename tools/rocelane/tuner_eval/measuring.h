#pragma once

#include <optional>
#include <random>

#include "tuner/grid/grid.h"
#include "tuner_eval/options.h"

namespace rocelane::tuner_eval {

// Plays measurements from a grid: the recorded times, with noise. Counts them.
class Measuring {
 public:
  Measuring(const Options& options, uint64_t seed);

  // Median microseconds of several runs, or of one where there is no noise; std::nullopt where the
  // grid has no time for `choice`. NCCL's own choice takes what it took unforced.
  std::optional<double> measure(const tuner::SizeTimes& size, const tuner::Choice& choice);
  std::optional<double> run_once(const tuner::SizeTimes& size, const tuner::Choice& choice);

  size_t runs() const { return runs_; }

 private:
  double noisy(double time_us);

  const double deviation_;
  const double stalls_;
  std::mt19937_64 random_;
  size_t runs_ = 0;
};

// What the grid says `choice` takes; std::nullopt where it does not say.
std::optional<double> recorded_time(const tuner::SizeTimes& size, const tuner::Choice& choice);

}  // namespace rocelane::tuner_eval
