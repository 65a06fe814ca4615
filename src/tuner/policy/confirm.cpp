#include "tuner/policy/confirm.h"

#include <algorithm>
#include <cmath>

namespace rocelane::tuner {
namespace {

constexpr size_t kFewestSamples = 5;

// Where the interval of the median begins in `count` sorted samples; it ends as far from the end.
// How many samples lie below the median is binomial: half of them, give or take one deviation of
// sqrt(count) / 2.
size_t first_of_interval(size_t count) {
  const double samples = static_cast<double>(count);
  return static_cast<size_t>(std::max(0.0, std::floor((samples - 2 * std::sqrt(samples)) / 2)));
}

}  // namespace

bool is_clearly_faster(std::vector<double> challenger, std::vector<double> incumbent) {
  if (challenger.size() < kFewestSamples || incumbent.size() < kFewestSamples) {
    return false;
  }
  std::sort(challenger.begin(), challenger.end());
  std::sort(incumbent.begin(), incumbent.end());
  const double highest = challenger[challenger.size() - 1 - first_of_interval(challenger.size())];
  const double lowest = incumbent[first_of_interval(incumbent.size())];
  return highest < lowest;
}

bool confirm_switch(const Choice& challenger, const Choice& incumbent, const Measure& measure,
                    int rounds) {
  std::vector<double> of_challenger;
  std::vector<double> of_incumbent;
  for (int round = 0; round < rounds; ++round) {
    const std::optional<double> one = measure(challenger);
    const std::optional<double> other = measure(incumbent);
    if (!one || !other) {
      return false;
    }
    of_challenger.push_back(*one);
    of_incumbent.push_back(*other);
  }
  return is_clearly_faster(of_challenger, of_incumbent);
}

}  // namespace rocelane::tuner
