#pragma once

// Measured times of collectives, by what ran. Plain data.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rocelane::tuner {

// What a collective ran with. Names are upper case, as NCCL writes them ("RING", "LL128").
struct Choice {
  std::string algorithm;
  std::string protocol;
  int channels = 0;  // 0: not stated

  auto operator<=>(const Choice&) const = default;
};

// What NCCL did when nothing was forced.
struct DefaultRun {
  Choice choice;  // algorithm "DEFAULT" where the source does not say what ran
  double time_us = 0;
};

struct SizeTimes {
  std::map<Choice, double> time_us;  // forced choices; never empty together with `by_default`
  std::optional<DefaultRun> by_default;
};

// One collective on one cluster. Sizes are bytes of the whole buffer, as nccl-tests counts them.
struct GridKey {
  std::string cluster;
  std::string collective;
  int nodes = 0;  // 0: not stated
  int ranks = 0;  // 0: not stated

  auto operator<=>(const GridKey&) const = default;
};

using Grid = std::map<uint64_t, SizeTimes>;
using Grids = std::map<GridKey, Grid>;

}  // namespace rocelane::tuner
