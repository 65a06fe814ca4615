#pragma once

// Takes one consistent copy of each slot in use, while its owner may be changing it.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>
#include <unistd.h>

#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

class SlotReader {
 public:
  explicit SlotReader(int descriptor) : descriptor_(descriptor) {}

  // Calls use(index, life, slot) for every slot in use. `table` has passed check_header.
  template <class Slot, class Use>
  void read_all(const TableDescription& table, const Use& use) {
    const uint32_t slots = std::min(table.slots_backed, table.capacity);
    for (uint32_t index = 0; index < slots && !truncated_; ++index) {
      Slot slot{};
      const off_t offset = static_cast<off_t>(table.offset + uint64_t{index} * table.slot_bytes);
      // A newer page has longer slots, of which we know the beginning.
      const size_t length = std::min<size_t>(table.slot_bytes, sizeof(Slot));
      if (copy(offset, &slot, length)) {
        use(index, life_of(slot.sequence), slot);
      }
    }
  }

  // A slot that is claimed and released faster than it can be read is left out.
  uint32_t kept_changing() const { return kept_changing_; }
  // The file ended where a slot should be.
  bool truncated() const { return truncated_; }

 private:
  static constexpr int kTries = 8;

  // True: `slot` is one life of a slot in use.
  bool copy(off_t offset, void* slot, size_t length) {
    for (int i = 0; i < kTries; ++i) {
      uint64_t before = 0;
      uint64_t after = 0;
      if (!take(offset, &before, sizeof(before))) {
        return false;
      }
      if (phase_of(before) == SlotPhase::kFree) {
        return false;
      }
      keep_order();
      if (!take(offset, slot, length)) {
        return false;
      }
      keep_order();
      if (!take(offset, &after, sizeof(after))) {
        return false;
      }
      if (before == after && phase_of(before) == SlotPhase::kInUse) {
        return true;
      }
    }
    ++kept_changing_;
    return false;
  }

  // Pairs with the releasing stores in SlotTable: what was copied between two equal sequences
  // belongs to that life. ThreadSanitizer knows no fences, nor what the kernel reads for us.
  static void keep_order() {
#ifndef __SANITIZE_THREAD__
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
  }

  bool take(off_t offset, void* to, size_t length) {
    truncated_ = pread(descriptor_, to, length, offset) != static_cast<ssize_t>(length);
    return !truncated_;
  }

  int descriptor_;
  uint32_t kept_changing_ = 0;
  bool truncated_ = false;
};

}  // namespace rocelane::telemetry
