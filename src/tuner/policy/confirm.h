#pragma once

#include <vector>

#include "tuner/policy/search.h"

namespace rocelane::tuner {

// Whether the intervals in which the two medians lie (about 95 in 100 each, from the ranks of the
// samples, so stalls do not widen them) do not touch, with `challenger` below. Fewer than five
// samples of either are never enough. Pure.
bool is_clearly_faster(std::vector<double> challenger, std::vector<double> incumbent);

// Measures both in turn, `rounds` times, so that whatever slows the machine down meets both, and
// says whether the switch is worth it. A choice that was the fastest of many in single measurements
// was often only the luckiest: nobody should switch without this. False where one of them cannot
// run.
bool confirm_switch(const Choice& challenger, const Choice& incumbent, const Measure& measure,
                    int rounds);

}  // namespace rocelane::tuner
