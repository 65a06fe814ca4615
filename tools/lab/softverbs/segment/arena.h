#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

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

  // 0 when the segment, or the file system that holds it, is full. `base` is where this process has
  // the segment; `room` says whether that many bytes more may be touched.
  uint64_t allocate(std::byte* base, uint64_t bytes, bool (*room)(uint64_t bytes));
  void release(std::byte* base, uint64_t offset, uint64_t bytes);

 private:
  static constexpr int kClasses = 40;

  RobustMutex mutex_;
  uint64_t next_ = 0;
  uint64_t end_ = 0;
  uint64_t promised_ = 0;  // up to here `room` has said yes
  std::array<uint64_t, kClasses> free_{};
};

}  // namespace rocelane::softverbs
