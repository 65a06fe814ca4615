#include "net/memory/registration_request.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

namespace rocelane::net {
namespace {

Result<DmaBufIdentity> identity_of(const DmaBuf& dma_buf, uint64_t address) {
  struct stat facts {};
  if (fstat(dma_buf.descriptor, &facts) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the dma-buf descriptor {} given for the memory at {:#x} is not open "
                             "(fstat: {}): set NCCL_DMABUF_ENABLE=0 to go on without dma-bufs",
                             dma_buf.descriptor, address,
                             std::error_code(errno, std::generic_category()).message())};
  }
  // Wraps around when the offset is the larger one; equality is all that counts.
  return DmaBufIdentity{facts.st_dev, facts.st_ino, address - dma_buf.offset};
}

}  // namespace

Result<RegistrationRequest> registration_request(void* data, size_t bytes, MemoryKind kind,
                                                 const std::optional<DmaBuf>& dma_buf,
                                                 bool relaxed_ordering) {
  const uint64_t begin = reinterpret_cast<uintptr_t>(data);
  if (bytes > UINT64_MAX - begin) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} bytes at {} cannot be registered: they run over the end of the "
                             "address space, so the caller's size is wrong",
                             bytes, data)};
  }
  RegistrationRequest request{{begin, begin + bytes}, {kind, relaxed_ordering, {}}, dma_buf};
  if (dma_buf.has_value()) {
    const auto identity = identity_of(*dma_buf, begin);
    if (!identity) {
      return identity.error();
    }
    request.sharing_class.dma_buf = *identity;
  }
  return request;
}

}  // namespace rocelane::net
