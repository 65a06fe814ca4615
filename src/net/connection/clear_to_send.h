#pragma once

// The clear-to-send record: how a receiver tells the sender where one message may go. Written by
// RDMA into the sender's ring, and read there while it may still be arriving. Layout in
// docs/protocol.md.

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/device/port_facts.h"

namespace rocelane::net {

inline constexpr uint32_t kReceiveSlots = 64;    // grouped receives in flight on one connection
inline constexpr uint32_t kGroupedReceives = 8;  // buffers of one grouped receive

struct ClearToSend {
  uint64_t address;
  uint32_t key;  // of the receiver's first port
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

// What follows each record where the receiver has several ports: the buffer's keys on the others.
struct ClearToSendKeys {
  std::array<uint32_t, kMostRails - 1> keys;
  uint32_t check;
};
static_assert(sizeof(ClearToSendKeys) == 32 && offsetof(ClearToSendKeys, check) == 28,
              "wire format: a place in the ring like a record's");

// Records follow each other in the ring, whatever groups they are of. Where the receiver has
// several ports a place in the ring is a record and its keys.
inline constexpr uint32_t kClearToSendRecords = kReceiveSlots * kGroupedReceives;
constexpr size_t clear_to_send_place_bytes(bool with_keys) {
  return sizeof(ClearToSend) + (with_keys ? sizeof(ClearToSendKeys) : 0);
}
constexpr size_t clear_to_send_ring_bytes(bool with_keys) {
  return clear_to_send_place_bytes(with_keys) * kClearToSendRecords;
}

// Words mixed into 32 bits that are never 0.
class ClearToSendDigest {
 public:
  constexpr void mix(uint64_t word) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
    state_ = (state_ ^ word) * kOdd;
    state_ ^= state_ >> 29U;
  }
  constexpr uint32_t value() const { return static_cast<uint32_t>(state_ >> 32U) | 1U; }

 private:
  uint64_t state_ = 0x726f63656c616e65;  // a zeroed record must not be valid
};

// A digest over everything before `check` and the group's sequence, which both ends count. A record
// that is half written, or left over from an earlier turn of the ring, does not carry the digest of
// its content, so a reader needs no assumption about the order of the NIC's stores. Never 0: the
// sender puts that in the place of a record it has used, and so sees at a glance that none has
// come.
constexpr uint32_t clear_to_send_check(const ClearToSend& record, uint32_t sequence) {
  ClearToSendDigest digest;
  digest.mix(record.address);
  digest.mix(static_cast<uint64_t>(record.key) << 32U | record.bytes);
  digest.mix(static_cast<uint64_t>(record.tag) << 32U | static_cast<uint64_t>(record.epoch) << 16U |
             static_cast<uint64_t>(record.place) << 8U | record.flags);
  digest.mix(sequence);
  return digest.value();
}

// The same of the keys that follow a record, whose own check ties them to it.
constexpr uint32_t clear_to_send_check(const ClearToSendKeys& keys, uint32_t check_of_record) {
  ClearToSendDigest digest;
  for (size_t i = 0; i + 1 < keys.keys.size(); i += 2) {
    digest.mix(static_cast<uint64_t>(keys.keys[i]) << 32U | keys.keys[i + 1]);
  }
  digest.mix(static_cast<uint64_t>(keys.keys.back()) << 32U | check_of_record);
  return digest.value();
}

}  // namespace rocelane::net
