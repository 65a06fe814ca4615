#include "collperf/guarded_buffer.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "collperf/nccl_calls.h"

namespace rocelane::collperf {

Result<GuardedBuffer> GuardedBuffer::allocate(size_t content_bytes) {
  GuardedBuffer buffer;
  void* memory = nullptr;
  const size_t bytes = content_bytes + 2 * kGuardBytes;
  const Status allocated =
      check_cuda(cudaMalloc(&memory, bytes), fmt::format("cudaMalloc of {} bytes", bytes));
  if (!allocated) {
    return allocated.error();
  }
  buffer.memory_ = static_cast<std::byte*>(memory);
  buffer.content_bytes_ = content_bytes;
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), content_bytes_(other.content_bytes_) {}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(content_bytes_, other.content_bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (memory_ != nullptr) {
    cudaFree(memory_);
  }
}

Status GuardedBuffer::upload(std::span<const std::byte> image) const {
  return check_cuda(cudaMemcpy(memory_, image.data(), image.size(), cudaMemcpyHostToDevice),
                    "cudaMemcpy to the device");
}

Status GuardedBuffer::download(std::span<std::byte> image) const {
  return check_cuda(cudaMemcpy(image.data(), memory_, image.size(), cudaMemcpyDeviceToHost),
                    "cudaMemcpy from the device");
}

std::vector<std::byte> patterned_image(size_t content_bytes, uint64_t seed) {
  std::vector<std::byte> image(content_bytes + 2 * GuardedBuffer::kGuardBytes);
  uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::byte& byte : image) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return image;
}

}  // namespace rocelane::collperf
