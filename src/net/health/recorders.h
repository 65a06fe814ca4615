#pragma once

// What ports, connections and lanes tell the telemetry page. A recorder that was never claimed, or
// that found no room in the page, takes everything and shows nothing.

#include <array>
#include <cstdint>
#include <string_view>

#include "net/health/counting.h"
#include "net/health/slot_claim.h"
#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

// What a device says about one port; drivers do not have every counter.
class PortCounters {
 public:
  void set(PortCounter counter, uint64_t value) {
    values_[static_cast<size_t>(counter)] = value;
    known_ |= uint64_t{1} << static_cast<size_t>(counter);
  }
  uint64_t known() const { return known_; }
  const std::array<uint64_t, kPortCounterRoom>& values() const { return values_; }

 private:
  uint64_t known_ = 0;  // bit n: PortCounter n was set
  std::array<uint64_t, kPortCounterRoom> values_{};
};

struct PortIdentity {
  std::string_view device{};      // e.g. mlx5_0
  std::string_view interface {};  // e.g. eth1; may be empty
  uint32_t port_number = 1;
};

// Writer: the thread that samples ports. Costs nothing to the data path.
class PortRecorder {
 public:
  PortRecorder() = default;
  PortRecorder(std::shared_ptr<PageCore> core, const PortIdentity& identity);

  void set_state(PortState state, uint64_t speed_mbps);
  void set_counters(const PortCounters& counters, uint64_t sampled_monotonic_ns);
  SlotName name() const { return claim_.name(); }

 private:
  SlotClaim<PortSlot> claim_;
};

struct ConnectionIdentity {
  SlotName port{};  // the first of our ports it uses
  Direction direction = Direction::kUnknown;
  ConnectionState state = ConnectionState::kSettingUp;
  std::string_view peer_host{};
  std::string_view peer_device{};
  uint32_t peer_rank = kNone;
};

class ConnectionRecorder {
 public:
  ConnectionRecorder() = default;
  ConnectionRecorder(std::shared_ptr<PageCore> core, const ConnectionIdentity& identity);

  // Writer: the progress thread of the connection. One whole message.
  void completed(uint64_t bytes) {
    Traffic& traffic = claim_.slot().traffic;
    count(traffic.bytes, bytes);
    count(traffic.messages, 1);
  }
  void failed() { count(claim_.slot().traffic.errors, 1); }
  // From any thread.
  void set_state(ConnectionState state) { publish(claim_.slot().state, state); }
  SlotName name() const { return claim_.name(); }

 private:
  SlotClaim<ConnectionSlot> claim_;
};

struct LaneIdentity {
  SlotName connection{};
  SlotName port{};
  uint32_t number = 0;  // within the connection
  LaneKind kind = LaneKind::kData;
  LaneState state = LaneState::kSettingUp;
  uint32_t local_queue_pair = 0;
  uint32_t remote_queue_pair = 0;
  uint32_t flow_label = 0;
  uint16_t udp_source_port = 0;
  uint8_t traffic_class = 0;
  uint64_t round_trip_ns = 0;
};

class LaneRecorder {
 public:
  LaneRecorder() = default;
  LaneRecorder(std::shared_ptr<PageCore> core, const LaneIdentity& identity);

  // Writer: the progress thread of the connection. One stripe, with its time from post to
  // completion where it was taken.
  void completed(uint64_t bytes) {
    Traffic& traffic = claim_.slot().traffic;
    count(traffic.bytes, bytes);
    count(traffic.messages, 1);
  }
  void completed(uint64_t bytes, uint64_t latency_ns) {
    LaneSlot& slot = claim_.slot();  // read once: the compiler must assume that counting changes it
    count(slot.latency[latency_bucket(latency_ns)], 1);
    count(slot.traffic.bytes, bytes);
    count(slot.traffic.messages, 1);
  }
  void failed() { count(claim_.slot().traffic.errors, 1); }
  // From any thread.
  void set_state(LaneState state) { publish(claim_.slot().state, state); }
  void set_round_trip(uint64_t nanoseconds) { publish(claim_.slot().round_trip_ns, nanoseconds); }
  // From one thread at a time: the lane now takes another way through the fabric.
  void moved_to(uint32_t flow_label, uint16_t udp_source_port);

 private:
  SlotClaim<LaneSlot> claim_;
};

}  // namespace rocelane::telemetry
