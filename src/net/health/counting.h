#pragma once

// How fields of the page are written while others read them: whole, relaxed, by one thread each.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rocelane::telemetry {

// Readers of other processes see old or new, never a mixture.
template <class T>
void publish(T& field, T value) {
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}

// Copies `bytes`, a multiple of 8, to an aligned place, word by word; whoever sees one of the words
// sees all that was written before this call. Not for the data path.
inline void publish_words(void* to, const void* from, size_t bytes) {
  using Word [[gnu::may_alias]] = uint64_t;
  auto* words = static_cast<Word*>(to);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(from) + i * sizeof(value), sizeof(value));
    __atomic_store_n(&words[i], value, __ATOMIC_RELEASE);
  }
}

// Only for the one thread that writes this counter: a load and a store, no locked instruction.
inline void count(uint64_t& counter, uint64_t more) {
  const std::atomic_ref<uint64_t> shared(counter);
  shared.store(shared.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace rocelane::telemetry
