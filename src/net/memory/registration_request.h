#pragma once

// What NCCL asks to be registered, and what makes two such wishes alike enough to share one
// registration. Plain data; any thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "net/memory/memory_kind.h"

namespace rocelane::net {

// Virtual addresses [begin, end). Among ranges with the same begin the longest comes first.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
  bool contains(const MemoryRange& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const MemoryRange&) const = default;
  std::strong_ordering operator<=>(const MemoryRange& other) const {
    return begin != other.begin ? begin <=> other.begin : other.end <=> end;
  }
};

// A dma-buf by what it is: descriptors get closed and their numbers used again. A dma-buf has had
// an inode of its own since Linux 5.3 and can be registered since 5.12; as long as it is registered
// it lives, and so the inode's number stays its own.
struct DmaBufIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t origin = 0;  // the virtual address of its byte 0, which may lie outside the range
  auto operator<=>(const DmaBufIdentity&) const = default;
};

// Only wishes of one class share: the same address may mean other memory, and a NIC that may
// reorder must not write where the strict order was asked for.
struct RegistrationClass {
  MemoryKind kind = MemoryKind::kHost;
  // The NIC may write in any order over PCIe: only for readers that wait for a completion, or that
  // find a flag of its own in every line, as those of LL and LL128 do.
  bool relaxed_ordering = false;
  std::optional<DmaBufIdentity> dma_buf;  // none: the memory is found by its address
  auto operator<=>(const RegistrationClass&) const = default;
};

struct RegistrationRequest {
  MemoryRange range;
  RegistrationClass sharing_class;
  std::optional<DmaBuf> dma_buf;  // for the driver; open until the registration is made
};

// Asks the kernel what `dma_buf`'s descriptor is. Fails when that is no open descriptor, or when
// the range runs over the end of the address space.
Result<RegistrationRequest> registration_request(void* data, size_t bytes, MemoryKind kind,
                                                 const std::optional<DmaBuf>& dma_buf,
                                                 bool relaxed_ordering);

}  // namespace rocelane::net
