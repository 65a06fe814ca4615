#include <algorithm>

#include "device/ring.h"

namespace rocelane::lab {

Leg ring_all_gather(const RingPlace& place, const Part& part, bool in_place) {
  const size_t ranks = place.ranks.size();
  Leg leg{.from = {place.previous}, .to = {place.next}, .moves = {}};
  for (size_t done = 0; done < part.count; done += part.chunk) {
    const size_t count = std::min(part.chunk, part.count - done);
    const size_t own_offset = part.offset + done;
    const auto share_of = [&](size_t hop) {
      return own_offset + static_cast<size_t>(place.ranks[hop]) * part.total;
    };
    Move first{.send = true, .own = Memory::kInput, .own_offset = own_offset, .count = count};
    if (!in_place) {
      first.kept = Memory::kOutput;
      first.kept_offset = share_of(0);
    }
    leg.moves.push_back(first);
    for (size_t hop = 1; hop < ranks; ++hop) {
      leg.moves.push_back({.receive = true,
                           .send = hop + 1 < ranks,
                           .kept = Memory::kOutput,
                           .kept_offset = share_of(ranks - hop),
                           .count = count});
    }
  }
  return leg;
}

}  // namespace rocelane::lab
