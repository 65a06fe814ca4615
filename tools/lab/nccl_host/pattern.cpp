#include "nccl_host/pattern.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace rocelane::nccl_host {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

std::byte pattern_byte(uint64_t message, size_t offset) {
  const uint64_t word = pattern_word(message, offset / kWord);
  std::byte bytes[kWord];
  std::memcpy(bytes, &word, kWord);
  return bytes[offset % kWord];
}

uint64_t word_at(const std::byte* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, kWord);
  return word;
}

}  // namespace

uint64_t pattern_word(uint64_t message, size_t word) {
  uint64_t mixed = (message + 1) * 0x9E3779B97F4A7C15U + word * 0xD1B54A32D192ED03U;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  return mixed ^ (mixed >> 32);
}

void fill_pattern(std::span<std::byte> bytes, uint64_t message) {
  const size_t words = bytes.size() / kWord;
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = pattern_word(message, i);
    std::memcpy(bytes.data() + i * kWord, &word, kWord);
  }
  for (size_t offset = words * kWord; offset < bytes.size(); ++offset) {
    bytes[offset] = pattern_byte(message, offset);
  }
}

std::optional<size_t> first_wrong_byte(std::span<const std::byte> bytes, uint64_t message,
                                       size_t from) {
  size_t offset = from;
  while (offset < bytes.size()) {
    if (offset % kWord == 0 && offset + kWord <= bytes.size() &&
        word_at(bytes.data() + offset) == pattern_word(message, offset / kWord)) {
      offset += kWord;
    } else if (bytes[offset] == pattern_byte(message, offset)) {
      ++offset;
    } else {
      return offset;
    }
  }
  return std::nullopt;
}

// Nobody orders these reads after the writes but the data itself, so a checker of threads must not
// see them; it learns that all data is there where its writer tells it so.
[[gnu::no_sanitize("thread")]] std::optional<size_t> first_missing_byte(
    std::span<const std::byte> bytes, uint64_t message, size_t from) {
  const volatile std::byte* const seen = bytes.data();
  for (size_t offset = from; offset < bytes.size(); ++offset) {
    const std::byte value = seen[offset];
    if (value == kUntouched && pattern_byte(message, offset) != kUntouched) {
      return offset;
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(const_cast<std::byte*>(bytes.data()));
#endif
  return std::nullopt;
}

size_t count_wrong_bytes(std::span<const std::byte> bytes, uint64_t message) {
  size_t wrong = 0;
  for (auto at = first_wrong_byte(bytes, message); at;
       at = first_wrong_byte(bytes, message, *at + 1)) {
    ++wrong;
  }
  return wrong;
}

std::optional<size_t> first_byte_that_is_not(std::span<const std::byte> bytes, std::byte value) {
  std::byte same[kWord];
  std::ranges::fill(same, value);
  const uint64_t word = word_at(same);
  size_t offset = 0;
  while (offset + kWord <= bytes.size() && word_at(bytes.data() + offset) == word) {
    offset += kWord;
  }
  for (; offset < bytes.size(); ++offset) {
    if (bytes[offset] != value) {
      return offset;
    }
  }
  return std::nullopt;
}

}  // namespace rocelane::nccl_host
