#include "softverbs/segment/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

namespace rocelane::softverbs {
namespace {

constexpr uint64_t kSmallest = 64;
constexpr uint64_t kStep = uint64_t{4} << 20;

int class_of(uint64_t bytes) {
  return static_cast<int>(std::bit_width(std::max(bytes, kSmallest) - 1));
}

}  // namespace

void Arena::initialise(uint64_t first, uint64_t end) {
  mutex_.initialise();
  next_ = (first + kSmallest - 1) / kSmallest * kSmallest;
  backed_ = next_;
  end_ = end;
}

uint64_t Arena::allocate(std::byte* base, uint64_t bytes, const Back& back) {
  const int size_class = class_of(bytes);
  if (size_class >= kClasses) {
    return 0;
  }
  const uint64_t size = uint64_t{1} << size_class;
  const std::lock_guard lock(mutex_);
  uint64_t& free = free_[static_cast<size_t>(size_class)];
  if (free != 0) {
    const uint64_t offset = free;
    std::memcpy(&free, base + offset, sizeof free);
    return offset;
  }
  if (size > end_ - next_) {
    return 0;
  }
  if (next_ + size > backed_) {
    const uint64_t up_to = std::min(end_, std::max(next_ + size, backed_ + kStep));
    if (!back(backed_, up_to - backed_)) {
      return 0;
    }
    backed_ = up_to;
  }
  const uint64_t offset = next_;
  next_ += size;
  return offset;
}

void Arena::release(std::byte* base, uint64_t offset, uint64_t bytes) {
  if (offset == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  uint64_t& free = free_[static_cast<size_t>(class_of(bytes))];
  std::memcpy(base + offset, &free, sizeof free);
  free = offset;
}

}  // namespace rocelane::softverbs
