#pragma once

// Is our traffic in a lossless priority? The traffic class says which one was meant; only the NIC's
// counters say which one it was.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/health/priority_counters.h"

namespace rocelane::telemetry {

// How a port sorts packets into priorities, as far as the kernel knows: firmware may do it alone.
struct QueueRules {
  uint8_t lossless = 0;                                       // bit n: PFC is on for priority n
  std::array<std::optional<uint8_t>, 64> priority_of_dscp{};  // what was configured
};

// What a port counted between two looks.
struct QueueTraffic {
  PriorityBytes before;
  PriorityBytes after;
  uint64_t rdma_sent_bytes = 0;  // by all processes, in the same time
  uint64_t rdma_received_bytes = 0;
};

struct QueueSubject {
  std::string_view device;     // e.g. mlx5_0
  std::string_view interface;  // e.g. eth1
  uint8_t traffic_class = 0;   // of our data, at both ends
};

// So much RDMA has to flow in a direction before it is judged.
constexpr uint64_t kEnoughToJudgeBytes = uint64_t{64} << 20;

// One sentence when most of the RDMA bytes of a direction were counted in a priority without PFC
// while others have it. Nothing when no priority has it: then the fabric is meant to lose packets.
std::optional<std::string> wrong_queue(const QueueSubject& subject, const QueueTraffic& traffic,
                                       const QueueRules& rules);

}  // namespace rocelane::telemetry
