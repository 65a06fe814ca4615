#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "nccl_host/message_plan.h"

namespace rocelane::nccl_host {

// The memory of one end and protocol: equal slots, each with guard bytes around its message. All of
// it holds kUntouched until somebody writes.
class Arena {
 public:
  // `room_bytes`: the largest message with its shift.
  Arena(size_t slots, size_t room_bytes);

  void* base() const { return memory_.get(); }
  size_t bytes() const { return slots_ * stride_; }

  // Where a message of `bytes` lies in a slot, `shift` bytes off the slot's aligned start.
  std::span<std::byte> message(size_t slot, size_t shift, size_t bytes) const;
  // A message's room and the guards on both its sides.
  std::span<std::byte> guarded(size_t slot, size_t shift, size_t bytes) const;

  static constexpr size_t kGuardBytes = 64;

 private:
  struct Unmap {
    size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };
  size_t slots_;
  size_t stride_;
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace rocelane::nccl_host
