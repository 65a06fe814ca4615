#include "net/transfer/lane_choice.h"

#include <algorithm>

#include "net/transfer/stripe_plan.h"

namespace rocelane::net {
namespace {

// The lanes, the least loaded first; equal ones in turn. Few enough to be sorted by insertion.
std::array<uint32_t, kMaxDataLanes> by_load(std::span<const uint64_t> loads, uint32_t first) {
  std::array<uint32_t, kMaxDataLanes> order{};
  for (uint32_t i = 0; i < loads.size(); ++i) {
    const auto lane = static_cast<uint32_t>((first + i) % loads.size());
    uint32_t place = i;
    for (; place > 0 && loads[lane] < loads[order.at(place - 1)]; --place) {
      order.at(place) = order.at(place - 1);
    }
    order.at(place) = lane;
  }
  return order;
}

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

LaneShares share_out(size_t bytes, uint32_t parts, std::span<const uint64_t> loads, uint32_t first,
                     size_t smallest) {
  const auto order = by_load(loads, first);
  const auto load = [&](uint32_t place) { return loads[order.at(place)]; };
  uint64_t total = bytes;  // of the message and of what its lanes have under way
  for (uint32_t i = 0; i < parts; ++i) {
    total += load(i);
  }
  // A lane whose part would be too small takes none; the others are levelled without it.
  uint32_t used = parts;
  while (used > 1 && total < used * (load(used - 1) + smallest / 2)) {
    total -= load(--used);
  }
  const bool even = load(used - 1) - load(0) < smallest;
  LaneShares shares;
  size_t left = bytes;
  for (uint32_t i = 0; i < used && left > 0; ++i) {
    const size_t wished = even ? divide_up(bytes, used) : divide_up(total, used) - load(i);
    const size_t whole = divide_up(wished, kStripeAlignmentBytes) * kStripeAlignmentBytes;
    const size_t part = i + 1 == used ? left : std::min(left, whole);
    shares.parts.at(shares.count++) = {order.at(i), part};
    left -= part;
  }
  return shares;
}

}  // namespace rocelane::net
