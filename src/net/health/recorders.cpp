#include "net/health/recorders.h"

#include <algorithm>

namespace rocelane::telemetry {
namespace {

// Cut where the field ends; the rest of the field is NUL already.
template <size_t kSize>
void set_text(char (&field)[kSize], std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), kSize), field);
}

uint64_t path_of(uint32_t flow_label, uint16_t udp_source_port) {
  return uint64_t{flow_label} << 16 | udp_source_port;
}

PortSlot slot_of(const PortIdentity& identity) {
  PortSlot slot{};
  slot.port_number = identity.port_number;
  set_text(slot.device, identity.device);
  set_text(slot.interface, identity.interface);
  return slot;
}

ConnectionSlot slot_of(const ConnectionIdentity& identity) {
  ConnectionSlot slot{};
  slot.port_index = identity.port.index;
  slot.port_life = identity.port.life;
  slot.direction = identity.direction;
  slot.state = identity.state;
  slot.peer_rank = identity.peer_rank;
  set_text(slot.peer_host, identity.peer_host);
  set_text(slot.peer_device, identity.peer_device);
  return slot;
}

LaneSlot slot_of(const LaneIdentity& identity) {
  LaneSlot slot{};
  slot.connection_index = identity.connection.index;
  slot.connection_life = identity.connection.life;
  slot.port_index = identity.port.index;
  slot.port_life = identity.port.life;
  slot.number = identity.number;
  slot.kind = identity.kind;
  slot.state = identity.state;
  slot.local_queue_pair = identity.local_queue_pair;
  slot.remote_queue_pair = identity.remote_queue_pair;
  slot.traffic_class = identity.traffic_class;
  slot.path = path_of(identity.flow_label, identity.udp_source_port);
  slot.round_trip_ns = identity.round_trip_ns;
  return slot;
}

}  // namespace

PortRecorder::PortRecorder(std::shared_ptr<PageCore> core, const PortIdentity& identity)
    : claim_(std::move(core), slot_of(identity)) {}

void PortRecorder::set_state(PortState state, uint64_t speed_mbps) {
  publish(claim_.slot().speed_mbps, speed_mbps);
  publish(claim_.slot().state, state);
}

void PortRecorder::set_counters(const PortCounters& counters, uint64_t sampled_monotonic_ns) {
  PortSlot& slot = claim_.slot();
  for (size_t i = 0; i < kPortCounterRoom; ++i) {
    publish(slot.counters[i], counters.values()[i]);
  }
  publish(slot.known_counters, counters.known());
  publish(slot.sampled_monotonic_ns, sampled_monotonic_ns);
}

ConnectionRecorder::ConnectionRecorder(std::shared_ptr<PageCore> core,
                                       const ConnectionIdentity& identity)
    : claim_(std::move(core), slot_of(identity)) {}

LaneRecorder::LaneRecorder(std::shared_ptr<PageCore> core, const LaneIdentity& identity)
    : claim_(std::move(core), slot_of(identity)) {}

void LaneRecorder::moved_to(uint32_t flow_label, uint16_t udp_source_port) {
  publish(claim_.slot().path, path_of(flow_label, udp_source_port));
  count(claim_.slot().path_changes, 1);
}

}  // namespace rocelane::telemetry
