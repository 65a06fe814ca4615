#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"

namespace rocelane::tuner {

// What one size cost with a policy, with NCCL's own choice, and at best. Microseconds, above 0.
struct Outcome {
  double chosen_us = 0;
  double default_us = 0;
  double best_us = 0;
};

// Regrets are parts: 0.01 is 1 % slower than the best measured choice.
struct Regret {
  double geometric = 0;      // of the ratios' geometric mean
  double percentile_95 = 0;  // nearest rank
  double worst = 0;
  double worse_share = 0;   // sizes more than 2 % slower than NCCL's own choice
  double worst_switch = 0;  // the largest loss against NCCL's own choice; 0 when there is none
  size_t sizes = 0;
};

// Pure. Refuses an empty list.
Result<Regret> summarize(const std::vector<Outcome>& outcomes);

}  // namespace rocelane::tuner
