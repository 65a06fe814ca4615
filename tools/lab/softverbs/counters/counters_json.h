#pragma once

// A run's counters as JSON. docs/lab.md describes the fields; they are named as in softverbs.h.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "softverbs/include/softverbs/softverbs.h"

namespace rocelane::softverbs {

// A queue pair that came as far as RTR, destroyed or not.
struct QueuePairReport {
  uint32_t number = 0;
  std::string peer_device;  // "host2/soft_0"
  uint32_t peer_number = 0;
  uint16_t udp_source_port = 0;
  uint8_t traffic_class = 0;
  std::vector<std::string> path;  // names of links; empty: unknown, or there is none
  softverbs_qp_counters counters{};
};

struct DeviceReport {
  std::string name;  // "host1/soft_0"
  softverbs_device_counters counters{};
  std::vector<QueuePairReport> queue_pairs;
  uint64_t queue_pairs_left_out = 0;  // more have lived than could be remembered
};

struct LinkReport {
  std::string name;
  softverbs_link_counters counters{};
};

struct RunReport {
  std::string run;
  uint64_t seed = 0;
  uint64_t time_ns = 0;  // since the run began, by its own clock
  std::vector<DeviceReport> devices;
  std::vector<LinkReport> links;
};

nlohmann::ordered_json counters_json(const RunReport& report);

}  // namespace rocelane::softverbs
