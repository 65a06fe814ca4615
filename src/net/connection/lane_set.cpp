#include "net/connection/lane_set.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/log.h"
#include "verbs/errors.h"

namespace rocelane::net {
namespace {

constexpr uint32_t kMask24 = 0xffffff;
constexpr uint32_t kFlowLabels = 0x3fff;  // labels 1..0x3fff map one to one to UDP source ports
constexpr uint32_t kInlineBytes = 124;    // four clear-to-sends that share a write

verbs::QueuePairLimits limits_of(Role role, bool is_control) {
  if (role == Role::kSender) {
    return is_control ? verbs::QueuePairLimits{kProbeDepth, kProbeDepth, 0}
                      : verbs::QueuePairLimits{kSendDepth, kProbeDepth, 0};
  }
  return is_control ? verbs::QueuePairLimits{kControlDepth, kProbeDepth, kInlineBytes}
                    : verbs::QueuePairLimits{kProbeDepth, kReceiveDepth, 0};
}

uint32_t depth_of(const verbs::QueuePairLimits& limits) {
  return limits.send_depth + limits.receive_depth;
}

// Room for the completions on each port. The first data lane's also has the control lane and, may
// be, one for small messages; a receiver flushes over all ports that it receives on.
std::vector<verbs::CompletionRoom> rooms_of(std::span<const std::shared_ptr<const Port>> ports,
                                            Role role, std::span<const uint8_t> rails) {
  std::vector<verbs::CompletionRoom> rooms;
  for (uint8_t rail = 0; rail < ports.size(); ++rail) {
    const auto lanes = static_cast<uint32_t>(std::count(rails.begin(), rails.end(), rail));
    uint32_t entries = lanes * depth_of(limits_of(role, false));
    if (rail == rails.front()) {
      entries += depth_of(limits_of(role, false)) + depth_of(limits_of(role, true));
    }
    if (role == Role::kReceiver && lanes > 0) {
      entries += kFlushDepth;
    }
    rooms.push_back({ports[rail]->context(), entries});
  }
  return rooms;
}

}  // namespace

uint32_t choose_flow_label(uint64_t entropy, size_t index) {
  // A random start and equal steps: labels of one connection never coincide and lie far apart.
  const uint64_t step = kFlowLabels / (kMaxDataLanes + 1);
  return static_cast<uint32_t>((entropy + index * step) % kFlowLabels) + 1;
}

Status post_empty_receives(const Lane& lane, uint64_t work_id, uint32_t count) {
  constexpr uint32_t kChain = 64;
  std::array<ibv_recv_wr, kChain> requests{};
  while (count > 0) {
    const uint32_t now = std::min(count, kChain);
    for (uint32_t i = 0; i < now; ++i) {
      requests.at(i).wr_id = work_id;
      requests.at(i).next = i + 1 < now ? &requests.at(i + 1) : nullptr;
    }
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_recv(lane.pair.get(), requests.data(), &refused); error != 0) {
      return verbs::call_failed("ibv_post_recv", verbs::device_name(lane.pair.get()->context),
                                error);
    }
    count -= now;
  }
  return {};
}

Result<std::shared_ptr<LaneSet>> LaneSet::create(std::vector<std::shared_ptr<const Port>> ports,
                                                 verbs::CompletionHub& hub, Role role,
                                                 std::span<const uint8_t> rails, uint64_t entropy) {
  std::shared_ptr<LaneSet> set(new LaneSet);
  set->ports_ = std::move(ports);
  set->role_ = role;
  set->entropy_ = entropy;
  auto completions = hub.enter(rooms_of(set->ports_, role, rails));
  if (!completions) {
    return std::move(completions).error();
  }
  set->completions_ = std::move(*completions);
  auto control = set->create_lane(rails.front(), limits_of(role, true), entropy);
  if (!control) {
    return std::move(control).error();
  }
  set->control_ = std::move(*control);
  set->control_.flow_label = choose_flow_label(entropy, kMaxDataLanes);
  for (size_t i = 0; i < rails.size(); ++i) {
    auto lane = set->create_lane(rails[i], limits_of(role, false), entropy >> (i + 1));
    if (!lane) {
      if (set->data_.empty()) {
        return std::move(lane).error();
      }
      if (const Port& port = *set->ports_[rails[i]]; port.first_shortage()) {
        log_warn("{}: only {} of {} data lanes for a connection: {} (said once for this port)",
                 port.usable().name, set->data_.size(), rails.size(), lane.error().what);
      }
      break;
    }
    lane->flow_label = choose_flow_label(entropy, i);
    set->data_.push_back(std::move(*lane));
  }
  return set;
}

Result<Lane> LaneSet::create_lane(uint8_t rail, const verbs::QueuePairLimits& limits,
                                  uint64_t entropy) {
  auto pair = verbs::QueuePair::create(ports_[rail]->domain(), completions_.queue(rail), limits);
  if (!pair) {
    return std::move(pair).error();
  }
  Lane lane;
  lane.pair = std::move(*pair);
  lane.rail = rail;
  lane.packet_sequence = static_cast<uint32_t>(entropy) & kMask24;
  return lane;
}

Status LaneSet::add_small_message_lane() {
  const size_t index = data_.size();
  auto lane = create_lane(control_.rail, limits_of(role_, false), entropy_ >> (index + 1));
  if (!lane) {
    return std::move(lane).error();
  }
  lane->flow_label = choose_flow_label(entropy_, index);
  data_.push_back(std::move(*lane));
  has_small_message_lane_ = true;
  return {};
}

void LaneSet::keep_large_lanes(size_t count) {
  if (count < large_lane_count()) {
    data_.erase(data_.begin() + static_cast<ptrdiff_t>(count),
                data_.begin() + static_cast<ptrdiff_t>(large_lane_count()));
  }
}

void LaneSet::begin_raise(LanePaths paths) {
  paths_ = std::move(paths);
  control_.peer = paths_.control_peer;
  for (size_t i = 0; i < data_.size(); ++i) {
    data_[i].peer = paths_.data_peers.at(i);
  }
  raise_state_.store(RaiseState::kQueued, std::memory_order_release);
}

void LaneSet::raise() {
  raise_state_.store(RaiseState::kRunning, std::memory_order_release);
  RaiseState outcome = RaiseState::kRaised;
  for (; raised_ < lane_count(); ++raised_) {
    bool transient = false;
    if (Status status = raise_lane(raised_, &transient); !status) {
      raise_error_ = std::move(status).error();
      outcome = transient ? RaiseState::kAgain : RaiseState::kFailed;
      break;
    }
    lane_is_prepared_ = false;
  }
  raise_state_.store(outcome, std::memory_order_release);
}

Status LaneSet::raise_lane(size_t index, bool* transient) {
  Lane& lane = this->lane(index);
  const bool is_control = index == data_.size();
  const verbs::QueuePairPath path = path_of(index);
  if (!lane_is_prepared_) {
    if (Status status = lane.pair.to_init(path); !status) {
      return status;
    }
    const uint64_t id = completions_.work_id(work_kind::kReceive | number_of(index));
    if (Status status = post_empty_receives(lane, id, limits_of(role_, is_control).receive_depth);
        !status) {
      return status;
    }
    lane_is_prepared_ = true;
  }
  int error_number = 0;
  if (Status status = lane.pair.to_ready_to_receive(path, &error_number); !status) {
    *transient = verbs::is_transient_ready_to_receive_error(error_number);
    return status;
  }
  return lane.pair.to_ready_to_send(path);
}

const Route& LanePaths::route(uint8_t rail, uint8_t peer_rail) const {
  return *std::find_if(routes.begin(), routes.end(), [&](const Route& route) {
    return route.rail == rail && route.peer_rail == peer_rail;
  });
}

verbs::QueuePairPath common_path(const Port& port, const LanePaths& paths, const Route& route) {
  verbs::QueuePairPath path;
  path.port = port.number();
  path.pkey_index = paths.pkey_index;
  path.gid_index = static_cast<uint8_t>(route.local_gid.index);
  std::memcpy(path.remote_gid.raw, route.peer_gid.gid.data(), route.peer_gid.gid.size());
  path.service_level = paths.service_level;
  path.mtu = static_cast<ibv_mtu>(route.mtu_code);
  path.timeout_exponent = paths.ack_timeout;
  path.retry_count = paths.retry_count;
  return path;
}

uint8_t LaneSet::traffic_class_of(size_t index) const {
  if (index == data_.size()) {
    return paths_.control_traffic_class;
  }
  return index < large_lane_count() ? paths_.data_traffic_class : paths_.small_message_class;
}

verbs::QueuePairPath LaneSet::path_of(size_t index) const {
  const Lane& lane = index < data_.size() ? data_[index] : control_;
  verbs::QueuePairPath path =
      common_path(port_of(lane), paths_, paths_.route(lane.rail, lane.peer.rail));
  path.remote_queue_pair = lane.peer.queue_pair;
  path.remote_packet_sequence = lane.peer.packet_sequence;
  path.local_packet_sequence = lane.packet_sequence;
  path.flow_label = lane.flow_label;
  path.traffic_class = traffic_class_of(index);
  return path;
}

void LaneSet::stop() {
  for (size_t i = 0; i < lane_count(); ++i) {
    lane(i).pair.to_error();
  }
}

const Lane* LaneSet::find(uint32_t queue_pair_number) const {
  if (control_.pair.number() == queue_pair_number) {
    return &control_;
  }
  const auto found = std::find_if(data_.begin(), data_.end(), [&](const Lane& lane) {
    return lane.pair.number() == queue_pair_number;
  });
  return found == data_.end() ? nullptr : &*found;
}

std::string describe_lane(const LaneSet& lanes, const Lane& lane) {
  const bool is_control = &lane == &lanes.control();
  const std::string name =
      is_control ? "the control lane" : fmt::format("data lane {}", &lane - lanes.data().data());
  const std::string& ports = lanes.paths().route(lane.rail, lane.peer.rail).ports;
  return fmt::format("{}{}{} (QP 0x{:x} to QP 0x{:x}, UDP source port {})", name,
                     ports.empty() ? "" : " over ", ports, lane.pair.number(), lane.peer.queue_pair,
                     verbs::udp_source_port(lane.flow_label));
}

}  // namespace rocelane::net
