#include <algorithm>

#include "device/ring.h"

namespace rocelane::lab {
namespace {

// The last round of chunks shares what is left evenly, in multiples of 16 bytes.
size_t last_chunk(size_t remaining, size_t ranks, size_t element_bytes) {
  const size_t multiple = 16 / element_bytes;
  const size_t even = (remaining + ranks - 1) / ranks;
  return (even + multiple - 1) / multiple * multiple;
}

}  // namespace

Leg ring_all_reduce(const RingPlace& place, const Part& part, size_t element_bytes) {
  const size_t ranks = place.ranks.size();
  const auto index = static_cast<size_t>(place.index);
  Leg leg{.from = {place.previous}, .to = {place.next}, .moves = {}};
  size_t chunk = part.chunk;
  const size_t round = ranks * part.chunk;
  for (size_t done = 0; done < part.count; done += round) {
    const size_t remaining = part.count - done;
    if (remaining < round) {
      chunk = last_chunk(remaining, ranks, element_bytes);
    }
    const auto add = [&](size_t chunk_index, Move move) {
      const size_t start = chunk_index % ranks * chunk;
      move.count = start < remaining ? std::min(chunk, remaining - start) : 0;
      const size_t offset = part.offset + done + start;
      move.own_offset = move.own == Memory::kNone ? 0 : offset;
      move.kept_offset = move.kept == Memory::kNone ? 0 : offset;
      leg.moves.push_back(move);
    };
    add(index + ranks - 1, {.send = true, .own = Memory::kInput});
    for (size_t hop = 2; hop < ranks; ++hop) {
      add(index + ranks - hop, {.receive = true, .send = true, .own = Memory::kInput});
    }
    add(index, {.receive = true,
                .send = true,
                .own = Memory::kInput,
                .kept = Memory::kOutput,
                .finished = true});
    for (size_t hop = 1; hop + 1 < ranks; ++hop) {
      add(index + ranks - hop, {.receive = true, .send = true, .kept = Memory::kOutput});
    }
    add(index + 1, {.receive = true, .kept = Memory::kOutput});
  }
  return leg;
}

}  // namespace rocelane::lab
