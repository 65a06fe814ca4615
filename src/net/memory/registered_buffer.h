#pragma once

// Memory of our own that a NIC reads or writes: zeroed, page-aligned, registered for as long as it
// lives.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "net/device/port.h"
#include "verbs/objects.h"

namespace rocelane::net {

class RegisteredBuffer {
 public:
  static Result<RegisteredBuffer> create(std::shared_ptr<const Port> port, size_t bytes);

  std::span<std::byte> bytes() const { return {memory_.get(), size_}; }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(memory_.get()); }
  uint32_t local_key() const { return region_->lkey; }
  uint32_t remote_key() const { return region_->rkey; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  RegisteredBuffer() = default;

  // Destroyed from the bottom up: first the registration, then what it covers.
  std::shared_ptr<const Port> port_;
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
  verbs::MemoryRegion region_;
};

}  // namespace rocelane::net
