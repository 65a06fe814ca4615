#include "tuner_eval/measuring.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rocelane::tuner_eval {
namespace {

constexpr size_t kRunsOfAMeasurement = 7;
constexpr double kMildestStall = 1.3;
constexpr double kWorstStall = 3;

}  // namespace

std::optional<double> recorded_time(const tuner::SizeTimes& size, const tuner::Choice& choice) {
  if (size.by_default && size.by_default->choice == choice) {
    return size.by_default->time_us;
  }
  const auto found = size.time_us.find(choice);
  return found == size.time_us.end() ? std::nullopt : std::optional(found->second);
}

Measuring::Measuring(const Options& options, uint64_t seed)
    : deviation_(options.noise_percent / 100),
      stalls_(options.stalls_percent / 100),
      random_(seed) {}

double Measuring::noisy(double time_us) {
  ++runs_;
  if (deviation_ == 0) {
    return time_us;
  }
  double time = time_us * std::lognormal_distribution<double>(0, deviation_)(random_);
  if (std::bernoulli_distribution(stalls_)(random_)) {
    time *= std::uniform_real_distribution<double>(kMildestStall, kWorstStall)(random_);
  }
  return time;
}

std::optional<double> Measuring::run_once(const tuner::SizeTimes& size,
                                          const tuner::Choice& choice) {
  const std::optional<double> time = recorded_time(size, choice);
  return time ? std::optional(noisy(*time)) : std::nullopt;
}

std::optional<double> Measuring::measure(const tuner::SizeTimes& size,
                                         const tuner::Choice& choice) {
  if (deviation_ == 0) {
    return run_once(size, choice);
  }
  std::array<double, kRunsOfAMeasurement> runs{};
  for (double& run : runs) {
    const std::optional<double> time = run_once(size, choice);
    if (!time) {
      return std::nullopt;
    }
    run = *time;
  }
  std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end());
  return runs[runs.size() / 2];
}

}  // namespace rocelane::tuner_eval
