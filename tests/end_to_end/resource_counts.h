#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rocelane::end_to_end {

// What this process holds: threads and files of its own, and RDMA objects. On softverbs these are
// those of all processes of its host.
struct ResourceCounts {
  size_t threads = 0;
  size_t files = 0;
  size_t queue_pairs = 0;
  size_t completion_queues = 0;
  size_t memory_regions = 0;
  size_t protection_domains = 0;

  bool operator==(const ResourceCounts&) const = default;
};

std::string text_of(const ResourceCounts& counts);

// The entries of `rdma -j resource show ...` that may belong to a process. The kernel names the
// thread that made the object, and nobody once that thread has ended: such an object is some
// process's, so it counts too. The kernel's own objects carry a name without a number.
using IsOwnThread = std::function<bool(int thread_id)>;
Result<size_t> count_entries_of(std::string_view json_text, const IsOwnThread& is_own_thread);

// Reads /proc, and asks softverbs or else the rdma tool. RDMA counts are zero where the host has no
// RDMA device.
Result<ResourceCounts> count_resources();

// Threads may end a moment after the call that ends them: counts until the counts are `wanted` or
// `patience` is over, and returns the last counts.
Result<ResourceCounts> count_when_settled(const ResourceCounts& wanted,
                                          std::chrono::milliseconds patience);

}  // namespace rocelane::end_to_end
