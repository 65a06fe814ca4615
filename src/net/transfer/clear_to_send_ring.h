#pragma once

// Takes grouped receives out of the ring that a receiver's NIC writes. Nothing in it is believed
// before its digest fits. Data path: no allocation, lock or system call. For the thread that sends.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "net/connection/clear_to_send.h"

namespace rocelane::net {

using ClearToSendRing = std::span<ClearToSend, kClearToSendRecords>;
using ClearToSendGroup = std::array<ClearToSend, kGroupedReceives>;

// The NIC may be writing the record while we read it, so every word is read once, in order, and the
// digest decides.
inline ClearToSend read_record(ClearToSend& source) {
  std::array<uint64_t, sizeof(ClearToSend) / sizeof(uint64_t)> words;
  auto* from = reinterpret_cast<uint64_t*>(&source);
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = std::atomic_ref(from[i]).load(std::memory_order_acquire);
  }
  ClearToSend record;
  std::memcpy(&record, words.data(), sizeof(record));
  return record;
}

inline bool is_record_of(const ClearToSend& record, uint32_t sequence, uint32_t index) {
  return index_of(record) == index && count_of(record) <= kGroupedReceives &&
         record.check == clear_to_send_check(record, sequence);
}

// The group `sequence`, whose first record is at `cursor`, which need not be wrapped. How many
// records it has, now in `records` and marked as used in the ring; 0: it has not come whole, and
// the ring is as it was. Inlined into its one caller, which every message goes through.
[[gnu::always_inline]] inline uint32_t take_group(ClearToSendRing ring, uint32_t cursor,
                                                  uint32_t sequence, ClearToSendGroup& records) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < count; ++i) {
    const ClearToSend record = read_record(ring[(cursor + i) % kClearToSendRecords]);
    if (!is_record_of(record, sequence, i) || (i > 0 && count_of(record) != count)) {
      return 0;
    }
    count = count_of(record);
    records[i] = record;
  }
  // The receiver writes here again only after the data of this group have come.
  for (uint32_t i = 0; i < count; ++i) {
    std::atomic_ref(ring[(cursor + i) % kClearToSendRecords].check)
        .store(0, std::memory_order_relaxed);
  }
  return count;
}

}  // namespace rocelane::net
