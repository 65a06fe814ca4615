#pragma once

#include <ostream>

namespace rocelane::test {

// What this process holds. RDMA objects are counted by the kernel, over all devices of the guest.
struct Resources {
  int threads = 0;
  int descriptors = 0;
  int queue_pairs = 0;
  int completion_queues = 0;
  int memory_regions = 0;
  int protection_domains = 0;
  bool operator==(const Resources&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Resources& resources);

Resources count_resources();

}  // namespace rocelane::test
