#include "bench/repetition.h"

#include <algorithm>

namespace rocelane::bench {

size_t repetitions(double target_s, double tried_s, size_t tried, RepetitionBounds bounds) {
  if (tried_s <= 0) {
    return bounds.most;
  }
  const double wanted = target_s / tried_s * static_cast<double>(tried);
  const auto least = static_cast<double>(bounds.least);
  const auto most = static_cast<double>(bounds.most);
  return static_cast<size_t>(std::clamp(wanted, least, most));
}

}  // namespace rocelane::bench
