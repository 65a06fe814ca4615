#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tuner/grid/grid.h"

namespace rocelane::tuner {

// Estimated microseconds of every choice that was measured at `bytes`, or at the nearest measured
// sizes on both sides of it: between two sizes time is a straight line in logarithms. Empty outside
// the measured sizes. Pure.
std::map<Choice, double> estimate_times(const Grid& measured, uint64_t bytes);

// The choice with the least estimated time, if it is worth leaving `by_default`, NCCL's own choice
// for `bytes`: its estimate must be lower by more than `margin` (0.05: 5 %; at least 0), and it may
// not have been slower at either of the neighbouring measured sizes. Where the default was not
// measured, and otherwise, std::nullopt: change nothing. Pure.
std::optional<Choice> choose_from_table(const Grid& measured, uint64_t bytes,
                                        const Choice& by_default, double margin);

}  // namespace rocelane::tuner
