#pragma once

// What a page said at one moment, as plain data. Times are nanoseconds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/health/latency_histogram.h"
#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

// A slot has other tenants one after the other; readings compare only when index and life agree.
struct SlotReading {
  uint32_t index = kNone;
  uint64_t life = 0;
};

struct TrafficReading {
  uint64_t bytes = 0;
  uint64_t messages = 0;
  uint64_t errors = 0;
};

struct PortReading {
  SlotReading slot;
  std::string device;
  std::string interface;
  uint32_t port_number = 0;
  PortState state = PortState::kUnknown;
  uint64_t speed_mbps = 0;
  uint64_t sampled_monotonic_ns = 0;
  // nullopt: this device does not count it, or nobody has looked yet.
  std::array<std::optional<uint64_t>, static_cast<size_t>(PortCounter::kCount)> counters;
};

struct ConnectionReading {
  SlotReading slot;
  SlotReading port;
  Direction direction = Direction::kUnknown;
  ConnectionState state = ConnectionState::kUnknown;
  std::string peer_host;
  std::string peer_device;
  uint32_t peer_rank = kNone;
  TrafficReading traffic;
};

struct LaneReading {
  SlotReading slot;
  SlotReading connection;
  SlotReading port;
  uint32_t number = 0;
  LaneKind kind = LaneKind::kUnknown;
  LaneState state = LaneState::kUnknown;
  uint32_t local_queue_pair = 0;
  uint32_t remote_queue_pair = 0;
  uint32_t traffic_class = 0;
  uint32_t flow_label = 0;
  uint16_t udp_source_port = 0;
  uint64_t path_changes = 0;
  uint64_t round_trip_ns = 0;  // at set-up; 0: not measured
  TrafficReading traffic;
  LatencyHistogram latency;  // post to completion
};

struct PageReading {
  uint32_t version = 0;
  uint32_t pid = 0;  // as the owner sees itself
  uint32_t uid = 0;
  std::string host_name;
  int32_t rank = kRankUnknown;
  bool owner_is_running = false;
  uint64_t created_monotonic_ns = 0;
  uint64_t updated_monotonic_ns = 0;
  int64_t wall_minus_monotonic_ns = 0;
  std::vector<PortReading> ports;
  std::vector<ConnectionReading> connections;
  std::vector<LaneReading> lanes;
  // Live, but beyond what the page can show.
  uint32_t ports_not_shown = 0;
  uint32_t connections_not_shown = 0;
  uint32_t lanes_not_shown = 0;
  uint32_t slots_that_kept_changing = 0;  // left out of this reading
};

}  // namespace rocelane::telemetry
