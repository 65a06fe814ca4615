#pragma once

// The clear-to-send record: how a receiver tells the sender where one message may go. Written by
// RDMA into the sender's ring, and read there while it may still be arriving. Layout in
// docs/protocol.md.

#include <cstddef>
#include <cstdint>

namespace rocelane::net {

inline constexpr uint32_t kReceiveSlots = 64;    // grouped receives in flight on one connection
inline constexpr uint32_t kGroupedReceives = 8;  // buffers of one grouped receive

struct ClearToSend {
  uint64_t address;
  uint32_t key;
  uint32_t bytes;
  uint32_t tag;
  uint16_t epoch;
  uint8_t index;  // of this buffer in its group
  uint8_t count;  // buffers in the group, 1..kGroupedReceives
  uint32_t sequence;
  uint32_t check;
};
static_assert(sizeof(ClearToSend) == 32, "wire format: half a cache line");
static_assert(offsetof(ClearToSend, tag) == 16 && offsetof(ClearToSend, sequence) == 24);

inline constexpr size_t kClearToSendRingBytes =
    sizeof(ClearToSend) * kReceiveSlots * kGroupedReceives;

// Place of a record in the ring.
constexpr size_t ring_index(uint32_t sequence, uint32_t index) {
  return static_cast<size_t>(sequence % kReceiveSlots) * kGroupedReceives + index;
}

// A digest over everything before `check`. A record that is half written, or left over from an
// earlier turn of the ring, does not carry the digest of its content, so a reader needs no
// assumption about the order of the NIC's stores.
constexpr uint32_t clear_to_send_check(const ClearToSend& record) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t state = 0x726f63656c616e65;  // a zeroed record must not be valid
  const auto mix = [&state](uint64_t word) {
    state = (state ^ word) * kOdd;
    state ^= state >> 29U;
  };
  mix(record.address);
  mix(static_cast<uint64_t>(record.key) << 32U | record.bytes);
  mix(static_cast<uint64_t>(record.tag) << 32U | static_cast<uint64_t>(record.epoch) << 16U |
      static_cast<uint64_t>(record.index) << 8U | record.count);
  mix(record.sequence);
  return static_cast<uint32_t>(state >> 32U);
}

}  // namespace rocelane::net
