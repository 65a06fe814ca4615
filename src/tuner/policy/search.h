#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "tuner/grid/grid.h"

namespace rocelane::tuner {

// What can be forced.
struct SearchSpace {
  std::set<std::string> algorithms;
  std::set<std::string> protocols;
  std::set<int> channels;
};

// Microseconds of a choice, or std::nullopt where it cannot run.
using Measure = std::function<std::optional<double>(const Choice&)>;

struct Found {
  Choice choice;
  double time_us = 0;
  size_t measurements = 0;  // calls of Measure; no choice is measured twice
};

// Looks for a faster choice than `start`, one coordinate at a time: algorithm, protocol, then
// channels (the most, one, and the neighbours of the best), again until nothing improves or
// `budget` measurements were made. The most and one come first because time over channels may have
// two valleys. std::nullopt when `start` cannot be measured or `budget` is 0.
std::optional<Found> search_choice(const Choice& start, const SearchSpace& space,
                                   const Measure& measure, size_t budget);

}  // namespace rocelane::tuner
