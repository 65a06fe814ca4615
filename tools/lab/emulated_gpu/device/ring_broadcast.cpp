#include <algorithm>

#include "device/ring.h"

namespace rocelane::lab {

Leg ring_broadcast(const RingPlace& place, const Part& part, int root, bool in_place) {
  Leg leg{.from = {place.previous}, .to = {place.next}, .moves = {}};
  const bool is_root = place.ranks[0] == root;
  const bool is_last = place.ranks[1] == root;
  for (size_t done = 0; done < part.count; done += part.chunk) {
    const size_t offset = part.offset + done;
    Move move{.count = std::min(part.chunk, part.count - done)};
    move.receive = !is_root;
    move.send = is_root || !is_last;
    if (is_root) {
      move.own = Memory::kInput;
      move.own_offset = offset;
    }
    if (!is_root || !in_place) {
      move.kept = Memory::kOutput;
      move.kept_offset = offset;
    }
    leg.moves.push_back(move);
  }
  return leg;
}

}  // namespace rocelane::lab
