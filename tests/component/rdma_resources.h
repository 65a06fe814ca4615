#pragma once

#include <ostream>
#include <string>

namespace rocelane::test {

// What this process holds. RDMA objects are those of all devices of the host: counted by softverbs
// where it stands in for libibverbs, and otherwise by the kernel of the guest.
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
// The kernel lists a thread for a moment after it was joined: counts until the counts are `wanted`,
// or a second is over, and returns the last counts.
Resources count_when_settled(const Resources& wanted);

// The devices of this host in order: rxe1 and rxe2 in a guest, soft_0 and soft_1 on softverbs.
std::string device_name(size_t rail);

}  // namespace rocelane::test
