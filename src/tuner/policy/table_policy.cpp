#include "tuner/policy/table_policy.h"

#include <cmath>
#include <iterator>

namespace rocelane::tuner {

namespace {

// Whether `choice` was at least as fast as `other` at the measured sizes on both sides of `bytes`.
// Where one wins below and the other above, nobody knows on which side of the crossing `bytes` is.
// Both must have been measured there.
bool nowhere_slower(const Grid& measured, uint64_t bytes, const Choice& choice,
                    const Choice& other) {
  const auto above = measured.lower_bound(bytes);
  const auto below = above->first == bytes ? above : std::prev(above);
  const auto faster_at = [&](const SizeTimes& size) {
    return size.time_us.at(choice) <= size.time_us.at(other);
  };
  return faster_at(above->second) && faster_at(below->second);
}

}  // namespace

std::map<Choice, double> estimate_times(const Grid& measured, uint64_t bytes) {
  const auto above = measured.lower_bound(bytes);
  if (above == measured.end()) {
    return {};
  }
  if (above->first == bytes) {
    return above->second.time_us;
  }
  if (above == measured.begin()) {
    return {};
  }
  const auto below = std::prev(above);
  const auto logarithm = [](uint64_t size) { return std::log(static_cast<double>(size)); };
  const double part = (logarithm(bytes) - logarithm(below->first)) /
                      (logarithm(above->first) - logarithm(below->first));
  std::map<Choice, double> estimates;
  for (const auto& [choice, low] : below->second.time_us) {
    const auto high = above->second.time_us.find(choice);
    if (high != above->second.time_us.end()) {
      estimates[choice] = std::exp((1 - part) * std::log(low) + part * std::log(high->second));
    }
  }
  return estimates;
}

std::optional<Choice> choose_from_table(const Grid& measured, uint64_t bytes,
                                        const Choice& by_default, double margin) {
  const std::map<Choice, double> estimates = estimate_times(measured, bytes);
  const auto incumbent = estimates.find(by_default);
  if (incumbent == estimates.end()) {
    return std::nullopt;
  }
  std::optional<Choice> best;
  double limit = incumbent->second * (1 - margin);
  for (const auto& [choice, time] : estimates) {
    if (time < limit && nowhere_slower(measured, bytes, choice, by_default)) {
      best = choice;
      limit = time;
    }
  }
  return best;
}

}  // namespace rocelane::tuner
