#pragma once

#include <cstdint>
#include <string_view>

namespace rocelane::bench {

// What this process has in memory, in bytes.
struct MemoryUse {
  uint64_t own = 0;     // pages of its own
  uint64_t shared = 0;  // with other processes: where software devices keep their queues
};

// `status`: what /proc/self/status holds.
MemoryUse parse_memory_use(std::string_view status);
MemoryUse memory_use_now();

}  // namespace rocelane::bench
