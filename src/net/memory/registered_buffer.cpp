#include "net/memory/registered_buffer.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace rocelane::net {
namespace {
size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
}  // namespace

void RegisteredBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<RegisteredBuffer> RegisteredBuffer::create(std::shared_ptr<const Port> port, size_t bytes) {
  RegisteredBuffer buffer;
  // Whole pages: nothing else shares the memory that a peer may write.
  buffer.size_ = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  buffer.memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes(), buffer.size_)));
  if (buffer.memory_ == nullptr) {
    return Error{ErrorCode::kSystem, fmt::format("no memory for a buffer of {} bytes", bytes)};
  }
  std::memset(buffer.memory_.get(), 0, buffer.size_);
  auto region = verbs::register_memory(
      port->domain(), buffer.memory_.get(), buffer.size_,
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  if (!region) {
    return std::move(region).error();
  }
  buffer.port_ = std::move(port);
  buffer.region_ = std::move(*region);
  return buffer;
}

}  // namespace rocelane::net
