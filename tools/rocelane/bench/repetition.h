#pragma once

#include <cstddef>

namespace rocelane::bench {

struct RepetitionBounds {
  size_t least = 1;
  size_t most = 1;
};

// How often something is done so that it takes about `target_s`, when `tried` times took `tried_s`.
size_t repetitions(double target_s, double tried_s, size_t tried, RepetitionBounds bounds);

}  // namespace rocelane::bench
