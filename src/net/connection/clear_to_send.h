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
  uint8_t place;  // of this buffer in its group, and above it the group's size: see pack_place
  uint8_t flags;  // kNoCompletion
  uint32_t check;
  uint32_t unused;  // the last record of a write ends before it
};
static_assert(sizeof(ClearToSend) == 32, "wire format: half a cache line");
static_assert(offsetof(ClearToSend, tag) == 16 && offsetof(ClearToSend, check) == 24);

// What is written of one record, inline: a work request with this much data fills one 64-byte
// block of a send queue.
inline constexpr size_t kClearToSendBytes = offsetof(ClearToSend, unused);

// The receiver needs no completion: it sees the data in memory. The sender writes without immediate
// data.
inline constexpr uint8_t kNoCompletion = 1;

constexpr uint8_t pack_place(uint32_t index, uint32_t count) {
  return static_cast<uint8_t>(index | (count - 1) << 4U);
}
constexpr uint32_t index_of(const ClearToSend& record) { return record.place & 15U; }
constexpr uint32_t count_of(const ClearToSend& record) { return (record.place >> 4U) + 1; }

// Records follow each other in the ring, whatever groups they are of.
inline constexpr uint32_t kClearToSendRecords = kReceiveSlots * kGroupedReceives;
inline constexpr size_t kClearToSendRingBytes = sizeof(ClearToSend) * kClearToSendRecords;

// A digest over everything before `check` and the group's sequence, which both ends count. A record
// that is half written, or left over from an earlier turn of the ring, does not carry the digest of
// its content, so a reader needs no assumption about the order of the NIC's stores. Never 0: the
// sender puts that in the place of a record it has used, and so sees at a glance that none has
// come.
constexpr uint32_t clear_to_send_check(const ClearToSend& record, uint32_t sequence) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t state = 0x726f63656c616e65;  // a zeroed record must not be valid
  const auto mix = [&state](uint64_t word) {
    state = (state ^ word) * kOdd;
    state ^= state >> 29U;
  };
  mix(record.address);
  mix(static_cast<uint64_t>(record.key) << 32U | record.bytes);
  mix(static_cast<uint64_t>(record.tag) << 32U | static_cast<uint64_t>(record.epoch) << 16U |
      static_cast<uint64_t>(record.place) << 8U | record.flags);
  mix(sequence);
  return static_cast<uint32_t>(state >> 32U) | 1U;
}

}  // namespace rocelane::net
