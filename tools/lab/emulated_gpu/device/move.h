#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocelane::lab {

enum class Memory : uint8_t { kNone, kInput, kOutput };

// One chunk's worth of a collective: reduce what `own` and the receive connections offer and write
// the result to `kept` and the send connections. Offsets and counts are in elements.
struct Move {
  bool receive = false;
  bool send = false;
  Memory own = Memory::kNone;
  Memory kept = Memory::kNone;
  size_t own_offset = 0;
  size_t kept_offset = 0;
  size_t count = 0;
  bool finished = false;  // the result is final: apply what the operation does at the end

  bool operator==(const Move&) const = default;
};

// Moves that follow one another on a set of connections. Legs of one work progress independently.
struct Leg {
  std::vector<int> from;  // ranks received from
  std::vector<int> to;    // ranks sent to
  std::vector<Move> moves;
};

}  // namespace rocelane::lab
