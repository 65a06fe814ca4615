#include <algorithm>

#include "device/tree.h"

namespace rocelane::lab {
namespace {

void add_per_chunk(Leg& leg, const Part& part, Move move) {
  for (size_t done = 0; done < part.count; done += part.chunk) {
    const size_t offset = part.offset + done;
    move.own_offset = move.own == Memory::kNone ? 0 : offset;
    move.kept_offset = move.kept == Memory::kNone ? 0 : offset;
    move.count = std::min(part.chunk, part.count - done);
    leg.moves.push_back(move);
  }
}

}  // namespace

std::vector<Leg> tree_all_reduce(const TreePlace& place, const Part& part) {
  if (place.up == -1) {
    Leg whole{.from = place.down, .to = place.down, .moves = {}};
    add_per_chunk(whole, part,
                  {.receive = true,
                   .send = true,
                   .own = Memory::kInput,
                   .kept = Memory::kOutput,
                   .finished = true});
    return {whole};
  }
  const bool is_leaf = place.down.empty();
  Leg up{.from = place.down, .to = {place.up}, .moves = {}};
  add_per_chunk(up, part, {.receive = !is_leaf, .send = true, .own = Memory::kInput});
  Leg down{.from = {place.up}, .to = place.down, .moves = {}};
  add_per_chunk(down, part, {.receive = true, .send = !is_leaf, .kept = Memory::kOutput});
  return {up, down};
}

}  // namespace rocelane::lab
