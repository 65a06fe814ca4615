#pragma once

#include <atomic>
#include <cstdint>

namespace rocelane::softverbs {

enum class Use : uint32_t { kFree, kClaimed, kLive };

// Which slots of a table have ever been used. What lies above is never even read: reading makes
// pages.
struct SlotTable {
  std::atomic<uint32_t> high;    // no slot at or above has been used
  std::atomic<uint32_t> freed;   // slots below that are free again
  std::atomic<uint32_t> hint;    // where to look for one
  std::atomic<uint32_t> backed;  // so many slots have memory behind them
};

// Takes a free slot of `slots`, an array of things with a member `use`; the caller makes it kLive
// when it is filled. UINT32_MAX when all are taken, or when `back`, which is asked whether so many
// slots have memory behind them, says no. Used slots come back late: a number that was just given
// up is not given out at once.
template <class T, class Back>
uint32_t claim_slot(SlotTable& table, T* slots, uint32_t most, Back back) {
  const auto take = [slots](uint32_t slot) {
    Use free = Use::kFree;
    return slots[slot].use.load(std::memory_order_relaxed) == Use::kFree &&
           slots[slot].use.compare_exchange_strong(free, Use::kClaimed);
  };
  const auto take_freed = [&]() -> uint32_t {
    const uint32_t high = table.high.load();
    const uint32_t from = table.hint.load();
    for (uint32_t step = 0; step < high; ++step) {
      const uint32_t slot = (from + step) % high;
      if (take(slot)) {
        table.freed.fetch_sub(1);
        table.hint.store(slot + 1);
        return slot;
      }
    }
    return UINT32_MAX;
  };
  constexpr uint32_t kFewFreed = 64;
  if (table.freed.load() > kFewFreed) {
    if (const uint32_t slot = take_freed(); slot != UINT32_MAX) {
      return slot;
    }
  }
  uint32_t high = table.high.load();
  while (high < most && back(high + 1)) {
    if (table.high.compare_exchange_weak(high, high + 1) && take(high)) {
      return high;
    }
    high = table.high.load();
  }
  return take_freed();
}

template <class T>
void release_slot(SlotTable& table, T* slots, uint32_t slot) {
  slots[slot].use.store(Use::kFree);
  table.freed.fetch_add(1);
}

}  // namespace rocelane::softverbs
