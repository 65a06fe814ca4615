#pragma once

// Which lanes take a message. A lane on a slow or crowded path empties slowly, so what is under way
// on it tells how much more it can take, without a clock: every lane is kept equally full, and what
// each one gets follows what each one gets rid of. Pure; nothing here knows queue pairs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/connection/handshake_message.h"

namespace rocelane::net {

// The lane with the least load; of equal ones the first from `first` on, so that idle lanes take
// turns. Needs first < loads.size().
inline uint32_t least_loaded(std::span<const uint64_t> loads, uint32_t first) {
  uint32_t best = first;
  const auto look_at = [&](uint32_t lane) { best = loads[lane] < loads[best] ? lane : best; };
  for (uint32_t lane = first + 1; lane < loads.size(); ++lane) {
    look_at(lane);
  }
  for (uint32_t lane = 0; lane < first; ++lane) {
    look_at(lane);
  }
  return best;
}

struct LaneShare {
  uint32_t lane = 0;
  size_t bytes = 0;
};

// The parts of a message, in their order in it.
struct LaneShares {
  uint32_t count = 0;
  std::array<LaneShare, kMaxDataLanes> parts{};
};

// Cuts a message into at most `parts` parts, for the lanes with the least load, so that these are
// equally loaded afterwards. Loads that differ by less than `smallest` count as equal, and no part
// is much smaller than that. All parts but the last are multiples of 128 bytes. Needs bytes > 0,
// 1 <= parts <= loads.size() <= kMaxDataLanes and first < loads.size().
LaneShares share_out(size_t bytes, uint32_t parts, std::span<const uint64_t> loads, uint32_t first,
                     size_t smallest);

}  // namespace rocelane::net
