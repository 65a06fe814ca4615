#include "nccl_host/arena.h"

#include <algorithm>
#include <new>

#include <sys/mman.h>

#include "nccl_host/pattern.h"

namespace rocelane::nccl_host {
namespace {

size_t rounded_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Whole pages of its own: nothing else is registered by accident.
std::byte* map_pages(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Arena::Unmap::operator()(std::byte* memory) const { ::munmap(memory, bytes); }

Arena::Arena(size_t slots, size_t room_bytes)
    : slots_(slots),
      stride_(rounded_up(room_bytes, kGuardBytes) + 2 * kGuardBytes),
      memory_(map_pages(slots_ * stride_), Unmap{slots_ * stride_}) {
  std::fill_n(memory_.get(), bytes(), kUntouched);
}

std::span<std::byte> Arena::message(size_t slot, size_t shift, size_t bytes) const {
  return {memory_.get() + slot * stride_ + kGuardBytes + shift, bytes};
}

std::span<std::byte> Arena::guarded(size_t slot, size_t shift, size_t bytes) const {
  const std::span<std::byte> inner = message(slot, shift, bytes);
  return {inner.data() - kGuardBytes, bytes + 2 * kGuardBytes};
}

}  // namespace rocelane::nccl_host
