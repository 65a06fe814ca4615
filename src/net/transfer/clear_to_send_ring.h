#pragma once

// Takes grouped receives out of the ring that a receiver's NIC writes. Nothing in it is believed
// before its digest fits. Data path: no allocation, lock or system call. For the thread that sends.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/connection/clear_to_send.h"

namespace rocelane::net {

// The ring, which somebody else owns: clear_to_send_ring_bytes(with_keys).
struct ClearToSendRing {
  ClearToSend* first = nullptr;
  uint32_t with_keys = 0;  // 1: keys follow each record

  // `place` need not be wrapped.
  ClearToSend& record(uint32_t place) const {
    return first[(place % kClearToSendRecords) << with_keys];
  }
  // Only with keys.
  ClearToSendKeys& keys(uint32_t place) const {
    return *reinterpret_cast<ClearToSendKeys*>(&record(place) + 1);
  }
};

struct ClearToSendGroup {
  std::array<ClearToSend, kGroupedReceives> records{};
  std::array<ClearToSendKeys, kGroupedReceives> keys{};  // only where they follow the records
};

// The NIC may be writing the record while we read it, so every word is read once, in order, and the
// digest decides.
template <class Record>
Record read_record(Record& source) {
  std::array<uint64_t, sizeof(Record) / sizeof(uint64_t)> words;
  auto* from = reinterpret_cast<uint64_t*>(&source);
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = std::atomic_ref(from[i]).load(std::memory_order_acquire);
  }
  Record record;
  std::memcpy(&record, words.data(), sizeof(record));
  return record;
}

inline bool is_record_of(const ClearToSend& record, uint32_t sequence, uint32_t index) {
  return index_of(record) == index && count_of(record) <= kGroupedReceives &&
         record.check == clear_to_send_check(record, sequence);
}

// The group `sequence`, whose first record is at `cursor`, which need not be wrapped. How many
// records it has, now in `group` and marked as used in the ring; 0: it has not come whole, and
// the ring is as it was. Inlined into its one caller, which every message goes through.
[[gnu::always_inline]] inline uint32_t take_group(ClearToSendRing ring, uint32_t cursor,
                                                  uint32_t sequence, ClearToSendGroup& group) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < count; ++i) {
    const ClearToSend record = read_record(ring.record(cursor + i));
    if (!is_record_of(record, sequence, i) || (i > 0 && count_of(record) != count)) {
      return 0;
    }
    if (ring.with_keys != 0) {
      group.keys[i] = read_record(ring.keys(cursor + i));
      if (group.keys[i].check != clear_to_send_check(group.keys[i], record.check)) {
        return 0;
      }
    }
    count = count_of(record);
    group.records[i] = record;
  }
  // The receiver writes here again only after the data of this group have come.
  for (uint32_t i = 0; i < count; ++i) {
    std::atomic_ref(ring.record(cursor + i).check).store(0, std::memory_order_relaxed);
  }
  return count;
}

}  // namespace rocelane::net
