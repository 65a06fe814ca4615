#include "verbs/objects.h"

#include <cerrno>
#include <string>

#include "base/log.h"
#include "verbs/errors.h"

namespace rocelane::verbs {
namespace {

// Destruction cannot report; a refusal means a defect in our order and is worth a line.
void check_destroyed(std::string_view call, std::string_view device, int result) {
  if (result != 0) {
    log_warn("{} on {} failed: {}; the object is leaked", call, device, errno_text(result));
  }
}

}  // namespace

// The name first: the object that leads to it is gone afterwards.
void ContextDestroyer::operator()(Pointer context) const {
  const std::string device(device_name(context));
  check_destroyed("ibv_close_device", device, ibv_close_device(context) != 0 ? errno : 0);
}
void ProtectionDomainDestroyer::operator()(Pointer domain) const {
  const std::string device(device_name(domain->context));
  check_destroyed("ibv_dealloc_pd", device, ibv_dealloc_pd(domain));
}
void CompletionQueueDestroyer::operator()(Pointer queue) const {
  const std::string device(device_name(queue->context));
  check_destroyed("ibv_destroy_cq", device, ibv_destroy_cq(queue));
}
void MemoryRegionDestroyer::operator()(Pointer region) const {
  const std::string device(device_name(region->context));
  check_destroyed("ibv_dereg_mr", device, ibv_dereg_mr(region));
}

std::string_view device_name(const ibv_context* context) {
  return ibv_get_device_name(context->device);
}

Result<ProtectionDomain> allocate_protection_domain(ibv_context* context) {
  ibv_pd* domain = ibv_alloc_pd(context);
  if (domain == nullptr) {
    return call_failed("ibv_alloc_pd", device_name(context), errno);
  }
  return ProtectionDomain(domain);
}

Result<CompletionQueue> create_completion_queue(ibv_context* context, int entries) {
  ibv_cq* queue = ibv_create_cq(context, entries, nullptr, nullptr, 0);
  if (queue == nullptr) {
    return call_failed("ibv_create_cq", device_name(context), errno);
  }
  return CompletionQueue(queue);
}

Result<MemoryRegion> register_memory(ibv_pd* domain, void* data, size_t bytes, int access) {
  // This entry point, unlike plain ibv_reg_mr, drops optional access bits that an old kernel does
  // not know.
  ibv_mr* region = ibv_reg_mr_iova2(domain, data, bytes, reinterpret_cast<uintptr_t>(data),
                                    static_cast<unsigned int>(access));
  if (region == nullptr && (access & IBV_ACCESS_RELAXED_ORDERING) != 0 &&
      (errno == EINVAL || errno == EOPNOTSUPP)) {
    return register_memory(domain, data, bytes, access & ~IBV_ACCESS_RELAXED_ORDERING);
  }
  if (region == nullptr) {
    const std::string_view hint =
        errno == EFAULT ? "the address is not memory the NIC can reach: for GPU memory load "
                          "nvidia-peermem or use a driver with dma-buf"
                        : "";
    return call_failed("ibv_reg_mr", device_name(domain->context), errno, hint);
  }
  return MemoryRegion(region);
}

Result<MemoryRegion> register_dma_buf(ibv_pd* domain, uint64_t offset, size_t bytes, uint64_t iova,
                                      int descriptor, int access) {
  ibv_mr* region = ibv_reg_dmabuf_mr(domain, offset, bytes, iova, descriptor, access);
  if (region == nullptr && (access & IBV_ACCESS_RELAXED_ORDERING) != 0 &&
      (errno == EINVAL || errno == EOPNOTSUPP)) {
    return register_dma_buf(domain, offset, bytes, iova, descriptor,
                            access & ~IBV_ACCESS_RELAXED_ORDERING);
  }
  if (region == nullptr) {
    const std::string_view hint =
        errno == EOPNOTSUPP ? "this device cannot register dma-bufs: set NCCL_DMABUF_ENABLE=0" : "";
    return call_failed("ibv_reg_dmabuf_mr", device_name(domain->context), errno, hint);
  }
  return MemoryRegion(region);
}

bool supports_dma_buf(ibv_pd* domain) {
  constexpr int kNoDescriptor = -1;
  ibv_mr* region = ibv_reg_dmabuf_mr(domain, 0, 0, 0, kNoDescriptor, 0);
  if (region != nullptr) {
    ibv_dereg_mr(region);
    return true;
  }
  // A device that knows dma-bufs complains about the descriptor (EBADF), not about the call.
  return errno != EOPNOTSUPP && errno != EPROTONOSUPPORT && errno != ENOSYS;
}

}  // namespace rocelane::verbs
