#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "device/function.h"

namespace rocelane::lab {

// A connection is a ring of this many steps.
inline constexpr uint64_t kFifoSteps = 8;

inline constexpr int kDirectNicFlag = 0x04;

enum class SlotMode : int { kNormal = 0, kOffset = 1 };

// Through these, device and proxy tell each other the size of a step and where its buffer lies.
struct FifoSlot {
  int mode;
  int offset;
  ssize_t size;
  void* pointer;
};

// One direction of a channel between two ranks: memory that NCCL's host side set up.
struct Connection {
  std::array<std::byte*, 3> buffers = {};  // by Protocol
  uint64_t* tail = nullptr;                // steps the sender filled
  uint64_t* head = nullptr;                // steps the receiver gave back
  FifoSlot* slots = nullptr;               // nullptr: no proxy between the two ranks
  uint64_t* step = nullptr;                // where the next work starts
  int flags = 0;
  int step_bytes = 0;  // of the Simple protocol's buffer

  std::byte* buffer(Protocol protocol) const { return buffers[static_cast<size_t>(protocol)]; }
};

template <class T>
T load_shared(const T& place) {
  return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_acquire);
}

template <class T>
void store_shared(T& place, T value) {
  std::atomic_ref<T>(place).store(value, std::memory_order_release);
}

// Whether a ring whose receiver stands at `head` can take the steps up to `end`.
// A proxy that has handed out no buffer yet keeps the head below zero, hence the wrapping addition.
inline bool has_room_until(uint64_t head, uint64_t end) { return head + kFifoSteps >= end; }

}  // namespace rocelane::lab
