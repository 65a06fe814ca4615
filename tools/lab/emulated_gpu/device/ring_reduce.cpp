#include <algorithm>

#include "device/ring.h"

namespace rocelane::lab {

Leg ring_reduce(const RingPlace& place, const Part& part, int root) {
  Leg leg{.from = {place.previous}, .to = {place.next}, .moves = {}};
  const bool is_root = place.ranks[0] == root;
  const bool is_first = place.ranks.back() == root;
  for (size_t done = 0; done < part.count; done += part.chunk) {
    const size_t offset = part.offset + done;
    Move move{.receive = !is_first,
              .send = !is_root,
              .own = Memory::kInput,
              .own_offset = offset,
              .count = std::min(part.chunk, part.count - done)};
    if (is_root) {
      move.kept = Memory::kOutput;
      move.kept_offset = offset;
      move.finished = true;
    }
    leg.moves.push_back(move);
  }
  return leg;
}

}  // namespace rocelane::lab
