#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace rocelane::bench {

double quantile(std::vector<double> values, double part) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, values.size() - 1);
  const double rest = place - std::floor(place);
  return values[below] + (values[above] - values[below]) * rest;
}

Quartiles quartiles(const std::vector<double>& values) {
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

}  // namespace rocelane::bench
