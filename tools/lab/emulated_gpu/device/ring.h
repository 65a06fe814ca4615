#pragma once

#include <cstddef>
#include <span>

#include "device/chunk_plan.h"
#include "device/move.h"

namespace rocelane::lab {

// A rank's place in a channel's ring. `ranks` starts with the rank itself and follows the ring.
struct RingPlace {
  int previous = 0;
  int next = 0;
  int index = 0;
  std::span<const int> ranks;
};

Leg ring_all_reduce(const RingPlace& place, const Part& part, size_t element_bytes);

// `in_place`: the input already lies where this rank's share of the output is.
Leg ring_all_gather(const RingPlace& place, const Part& part, bool in_place);

Leg ring_reduce_scatter(const RingPlace& place, const Part& part);

Leg ring_broadcast(const RingPlace& place, const Part& part, int root, bool in_place);

Leg ring_reduce(const RingPlace& place, const Part& part, int root);

}  // namespace rocelane::lab
