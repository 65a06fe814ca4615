#include "device/send_receive.h"

#include <algorithm>

namespace rocelane::lab {

Leg send_leg(int peer, size_t bytes, size_t chunk_bytes) {
  Leg leg{.from = {}, .to = {peer}, .moves = {}};
  size_t done = 0;
  do {
    const size_t count = std::min(chunk_bytes, bytes - done);
    leg.moves.push_back({.send = true, .own = Memory::kInput, .own_offset = done, .count = count});
    done += count;
  } while (done < bytes);
  return leg;
}

Leg receive_leg(int peer, size_t bytes, size_t chunk_bytes) {
  Leg leg{.from = {peer}, .to = {}, .moves = {}};
  size_t done = 0;
  do {
    const size_t count = std::min(chunk_bytes, bytes - done);
    leg.moves.push_back(
        {.receive = true, .kept = Memory::kOutput, .kept_offset = done, .count = count});
    done += count;
  } while (done < bytes);
  return leg;
}

}  // namespace rocelane::lab
