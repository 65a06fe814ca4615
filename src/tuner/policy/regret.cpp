#include "tuner/policy/regret.h"

#include <algorithm>
#include <cmath>

namespace rocelane::tuner {
namespace {

constexpr double kToleratedLoss = 0.02;

}  // namespace

Result<Regret> summarize(const std::vector<Outcome>& outcomes) {
  if (outcomes.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "there is no size to judge the policy on; give a grid with forced choices"};
  }
  std::vector<double> regrets;
  double logarithms = 0;
  size_t worse = 0;
  Regret regret;
  for (const Outcome& outcome : outcomes) {
    const double ratio = outcome.chosen_us / outcome.best_us;
    const double loss = outcome.chosen_us / outcome.default_us - 1;
    regrets.push_back(ratio - 1);
    logarithms += std::log(ratio);
    worse += loss > kToleratedLoss ? 1 : 0;
    regret.worst_switch = std::max(regret.worst_switch, loss);
  }
  std::sort(regrets.begin(), regrets.end());
  const double count = static_cast<double>(regrets.size());
  regret.geometric = std::exp(logarithms / count) - 1;
  regret.percentile_95 = regrets[static_cast<size_t>(std::ceil(0.95 * count)) - 1];
  regret.worst = regrets.back();
  regret.worse_share = static_cast<double>(worse) / count;
  regret.sizes = regrets.size();
  return regret;
}

}  // namespace rocelane::tuner
