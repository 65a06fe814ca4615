#pragma once

// A policy replayed on a measured grid: what it would have cost.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/grid/grid.h"
#include "tuner/policy/regret.h"
#include "tuner_eval/options.h"

namespace rocelane::tuner_eval {

struct SizeResult {
  uint64_t bytes = 0;
  tuner::Choice by_default;
  std::optional<tuner::Choice> chosen;  // none: NCCL's own
  tuner::Outcome outcome;
};

// Of one collective on one cluster, all draws together.
struct GroupResult {
  tuner::GridKey key;
  std::vector<SizeResult> sizes;
  size_t left_out = 0;  // sizes that cannot be judged: no unforced time, or nothing else
  size_t choices_measured = 0;
  size_t runs = 0;
};

struct Report {
  std::vector<GroupResult> groups;  // those with a size to judge
  size_t left_out = 0;              // sizes, of all groups
};

Report evaluate(const tuner::Grids& grids, const Options& options);

// `groups` together. Refuses an empty list.
Result<tuner::Regret> regret_of(const std::vector<GroupResult>& groups);

std::string text_report(const Options& options, const Report& report, const tuner::Regret& all);
std::string json_report(const Options& options, const Report& report, const tuner::Regret& all);

}  // namespace rocelane::tuner_eval
