#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rocelane::test {

struct VerbsObjects {
  size_t queue_pairs = 0;
  size_t completion_queues = 0;
  size_t memory_regions = 0;
  size_t protection_domains = 0;
};

// What exists on the devices of this process's host, made by any process of that host; nullopt when
// the libibverbs of this process is not softverbs. Zeros until the process has used it.
std::optional<VerbsObjects> count_softverbs_objects();

// How many queue pairs of these devices carry each traffic class, destroyed ones included.
std::optional<std::map<int, int>> count_softverbs_traffic_classes();

// Payload that each of these devices has sent, by name without the host.
std::optional<std::map<std::string, uint64_t>> count_softverbs_sent_bytes();

}  // namespace rocelane::test
