#pragma once

// Owners of libibverbs objects without behaviour of their own. Destruction order is the caller's: a
// queue pair before its completion queue, all of them before the protection domain.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "base/unique_handle.h"

namespace rocelane::verbs {

struct ContextDestroyer {
  using Pointer = ibv_context*;
  void operator()(Pointer context) const;
};
struct ProtectionDomainDestroyer {
  using Pointer = ibv_pd*;
  void operator()(Pointer domain) const;
};
struct CompletionQueueDestroyer {
  using Pointer = ibv_cq*;
  void operator()(Pointer queue) const;
};
struct MemoryRegionDestroyer {
  using Pointer = ibv_mr*;
  void operator()(Pointer region) const;
};

using DeviceContext = UniqueHandle<ContextDestroyer>;
using ProtectionDomain = UniqueHandle<ProtectionDomainDestroyer>;
using CompletionQueue = UniqueHandle<CompletionQueueDestroyer>;
using MemoryRegion = UniqueHandle<MemoryRegionDestroyer>;

Result<ProtectionDomain> allocate_protection_domain(ibv_context* context);
Result<CompletionQueue> create_completion_queue(ibv_context* context, int entries);

// `access`: IBV_ACCESS_* bits. Relaxed ordering is asked for through its own bit and retried
// without it when the device refuses: some drivers reject the flag instead of ignoring it.
Result<MemoryRegion> register_memory(ibv_pd* domain, void* data, size_t bytes, int access);
Result<MemoryRegion> register_dma_buf(ibv_pd* domain, uint64_t offset, size_t bytes, uint64_t iova,
                                      int descriptor, int access);

// Whether the device can register dma-bufs at all. Asks with a descriptor that cannot exist.
bool supports_dma_buf(ibv_pd* domain);

std::string_view device_name(const ibv_context* context);

}  // namespace rocelane::verbs
