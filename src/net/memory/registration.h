#pragma once

// Memory of NCCL's, registered with every rail of one connection. NCCL gets an object of its own
// from every call; what it holds may be shared.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "net/device/port_facts.h"
#include "net/memory/memory_kind.h"
#include "net/memory/registration_cache.h"

namespace rocelane::net {

// Made and destroyed by any thread; read by the data path meanwhile.
class Registration {
 public:
  // `rails`: the cache of each rail's port, 1 to kMostRails. With all of them or not at all.
  static Result<std::unique_ptr<Registration>> create(
      std::span<const std::shared_ptr<RegistrationCache>> rails, const RegistrationRequest& wanted);

  uint32_t local_key(size_t rail = 0) const { return rails_[rail].keys().local; }
  uint32_t remote_key(size_t rail = 0) const { return rails_[rail].keys().remote; }
  MemoryKind kind() const { return kind_; }

 private:
  explicit Registration(MemoryKind kind) : kind_(kind) {}

  std::array<SharedRegistration, kMostRails> rails_;
  MemoryKind kind_;
};

}  // namespace rocelane::net
