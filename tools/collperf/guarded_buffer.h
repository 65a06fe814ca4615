#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rocelane::collperf {

// Device memory with a zone before and behind it that nobody may write.
class GuardedBuffer {
 public:
  static constexpr size_t kGuardBytes = 4096;  // keeps the content aligned like the allocation

  static Result<GuardedBuffer> allocate(size_t content_bytes);
  GuardedBuffer() = default;
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer other) noexcept;
  ~GuardedBuffer();

  std::byte* content() const { return memory_ + kGuardBytes; }
  size_t content_bytes() const { return content_bytes_; }

  // Both guards and the first `content_bytes` of the content, as one piece.
  Status upload(std::span<const std::byte> image) const;
  Status download(std::span<std::byte> image) const;

 private:
  std::byte* memory_ = nullptr;
  size_t content_bytes_ = 0;
};

// Host bytes in the order guard, `content_bytes` of content, guard, filled with a pattern that
// depends on place and seed, so that bytes which moved are noticed too.
std::vector<std::byte> patterned_image(size_t content_bytes, uint64_t seed);

inline std::span<std::byte> content_of(std::vector<std::byte>& image) {
  return std::span(image).subspan(GuardedBuffer::kGuardBytes,
                                  image.size() - 2 * GuardedBuffer::kGuardBytes);
}

}  // namespace rocelane::collperf
