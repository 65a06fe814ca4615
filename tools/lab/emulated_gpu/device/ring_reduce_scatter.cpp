#include <algorithm>

#include "device/ring.h"

namespace rocelane::lab {

Leg ring_reduce_scatter(const RingPlace& place, const Part& part) {
  const size_t ranks = place.ranks.size();
  Leg leg{.from = {place.previous}, .to = {place.next}, .moves = {}};
  for (size_t done = 0; done < part.count; done += part.chunk) {
    const size_t count = std::min(part.chunk, part.count - done);
    const size_t own_offset = part.offset + done;
    const auto share_of = [&](size_t hop) {
      return own_offset + static_cast<size_t>(place.ranks[hop]) * part.total;
    };
    for (size_t hop = 1; hop < ranks; ++hop) {
      leg.moves.push_back({.receive = hop > 1,
                           .send = true,
                           .own = Memory::kInput,
                           .own_offset = share_of(ranks - hop),
                           .count = count});
    }
    leg.moves.push_back({.receive = true,
                         .own = Memory::kInput,
                         .kept = Memory::kOutput,
                         .own_offset = share_of(0),
                         .kept_offset = own_offset,
                         .count = count,
                         .finished = true});
  }
  return leg;
}

}  // namespace rocelane::lab
