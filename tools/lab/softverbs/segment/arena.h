#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "softverbs/segment/robust_mutex.h"

namespace rocelane::softverbs {

// A place in the segment; every process maps it elsewhere. 0: none.
template <class T>
struct Offset {
  uint64_t value = 0;
  explicit operator bool() const { return value != 0; }
};

// Hands out blocks of the segment, rounded up to powers of two; freed ones are kept by size and
// used again. Lives in the segment itself. Fresh blocks are zero, used ones are not.
class Arena {
 public:
  // Everything from `first` to `end` may be handed out.
  void initialise(uint64_t first, uint64_t end);

  // Puts memory behind a part of the segment; false when there is none left.
  using Back = std::function<bool(uint64_t offset, uint64_t bytes)>;

  // 0 when the segment, or the file system that holds it, is full. `base` is where this process has
  // the segment.
  uint64_t allocate(std::byte* base, uint64_t bytes, const Back& back);
  void release(std::byte* base, uint64_t offset, uint64_t bytes);

 private:
  static constexpr int kClasses = 40;

  RobustMutex mutex_;
  uint64_t next_ = 0;
  uint64_t end_ = 0;
  uint64_t backed_ = 0;  // up to here there is memory
  std::array<uint64_t, kClasses> free_{};
};

}  // namespace rocelane::softverbs
