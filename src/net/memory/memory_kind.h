#pragma once

#include <cstdint>

namespace rocelane::net {

enum class MemoryKind : uint8_t { kHost, kGpu };

struct DmaBuf {
  int descriptor = -1;  // stays the caller's; the kernel takes its own reference
  uint64_t offset = 0;
};

}  // namespace rocelane::net
