#pragma once

// Memory of NCCL's, registered with the NIC of one connection.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "net/device/port.h"
#include "net/memory/memory_kind.h"
#include "verbs/objects.h"

namespace rocelane::net {

class Registration {
 public:
  // `relaxed`: let the NIC write in any order over PCIe; only for memory whose readers wait for a
  // completion.
  static Result<std::unique_ptr<Registration>> create(std::shared_ptr<const Port> port, void* data,
                                                      size_t bytes, MemoryKind kind,
                                                      const std::optional<DmaBuf>& dma_buf,
                                                      bool relaxed);

  uint32_t local_key() const { return region_->lkey; }
  uint32_t remote_key() const { return region_->rkey; }
  MemoryKind kind() const { return kind_; }

 private:
  Registration(std::shared_ptr<const Port> port, verbs::MemoryRegion region, MemoryKind kind)
      : port_(std::move(port)), region_(std::move(region)), kind_(kind) {}

  std::shared_ptr<const Port> port_;  // keeps the protection domain alive
  verbs::MemoryRegion region_;
  MemoryKind kind_;
};

}  // namespace rocelane::net
