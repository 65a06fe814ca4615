#include "net/memory/registration.h"

#include <fmt/format.h>

namespace rocelane::net {

Result<std::unique_ptr<Registration>> Registration::create(std::shared_ptr<const Port> port,
                                                           void* data, size_t bytes,
                                                           MemoryKind kind,
                                                           const std::optional<DmaBuf>& dma_buf,
                                                           bool relaxed) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     (relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);
  auto region =
      dma_buf.has_value()
          ? verbs::register_dma_buf(port->domain(), dma_buf->offset, bytes,
                                    reinterpret_cast<uintptr_t>(data), dma_buf->descriptor, access)
          : verbs::register_memory(port->domain(), data, bytes, access);
  if (!region) {
    return Error{region.error().code,
                 fmt::format("{} bytes of {} memory at {} cannot be registered: {}", bytes,
                             kind == MemoryKind::kGpu ? "GPU" : "host", data, region.error().what)};
  }
  return std::unique_ptr<Registration>(new Registration(std::move(port), std::move(*region), kind));
}

}  // namespace rocelane::net
