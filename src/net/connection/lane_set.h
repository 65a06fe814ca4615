#pragma once

// The lanes of one connection: data lanes, one control lane, and their place where completions are
// handed out.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/handshake_message.h"
#include "net/device/port.h"
#include "verbs/completion_hub.h"
#include "verbs/queue_pair.h"

namespace rocelane::net {

// One queue pair on a deliberately chosen path.
struct Lane {
  verbs::QueuePair pair;
  uint32_t packet_sequence = 0;
  uint32_t flow_label = 0;
  uint8_t rail = 0;  // which of the connection's ports
  LaneAddress peer;
};

// Which end of a connection this is: the dialer sends messages, the listener receives them.
enum class Role : uint8_t { kSender, kReceiver };

// Work requests that each kind of lane may have outstanding.
inline constexpr uint32_t kSendDepth = 128;     // sender, each data lane
inline constexpr uint32_t kReceiveDepth = 128;  // receiver, each data lane; refilled in batches
inline constexpr uint32_t kControlDepth = 64;   // receiver, control lane
inline constexpr uint32_t kFlushDepth = 64;     // receiver, beside its lanes
inline constexpr uint32_t kProbeDepth =
    4;  // where nothing but the set-up probe is sent or received

// What a completion is of, in the ids of work requests. The low bits are the lane's number, the
// control lane's being kMaxDataLanes, or what the owner of the kind puts there.
namespace work_kind {
inline constexpr uint32_t kReceive = 1U << 31U;
inline constexpr uint32_t kProbe = 1U << 30U;
inline constexpr uint32_t kClearToSend = 1U << 29U;
inline constexpr uint32_t kFlush = 1U << 28U;
inline constexpr uint32_t kData = 0;
}  // namespace work_kind
inline constexpr uint32_t kLaneBits = 0xff;

// A pair of ports, one of each end, that lanes go over.
struct Route {
  uint8_t rail = 0;
  uint8_t peer_rail = 0;
  GidEntry local_gid;
  OfferedGid peer_gid;
  // Their places among what each end has offered for its port.
  uint8_t local_choice = 0;
  uint8_t peer_choice = 0;
  uint8_t mtu_code = 3;
  std::string ports;  // "mlx5_0:1 to mlx5_1:1", or nothing where both ends have one port
};

// How to reach the peer, agreed by both ends.
struct LanePaths {
  // Of the pair with these rails, which must be one that lanes go over.
  const Route& route(uint8_t rail, uint8_t peer_rail) const;

  std::vector<Route> routes;
  uint16_t pkey_index = 0;
  uint8_t data_traffic_class = 0;
  uint8_t control_traffic_class = 0;
  uint8_t small_message_class = 0;
  uint8_t service_level = 0;
  uint8_t ack_timeout = 20;
  uint8_t retry_count = 7;
  LaneAddress control_peer;
  std::vector<LaneAddress> data_peers;
};

// Built by NCCL's set-up thread, raised by the steward (raising blocks), then used by NCCL's
// progress thread. Each hands over through `raise_state`, which is why one owner at a time needs no
// lock.
class LaneSet {
 public:
  // `ports`: by rail. `hub`: of the thread that will use the lanes. `rails`: of each data lane, 1
  // to kMaxDataLanes - 1 of them; all others go over the first one's. `entropy`: random bits for
  // packet sequence numbers and flow labels. Builds as many data lanes as the devices give, at
  // least one.
  static Result<std::shared_ptr<LaneSet>> create(std::vector<std::shared_ptr<const Port>> ports,
                                                 verbs::CompletionHub& hub, Role role,
                                                 std::span<const uint8_t> rails, uint64_t entropy);

  // One more data lane, the last, for small messages alone.
  Status add_small_message_lane();
  bool has_small_message_lane() const { return has_small_message_lane_; }
  // Those for all messages.
  size_t large_lane_count() const { return data_.size() - (has_small_message_lane_ ? 1 : 0); }

  // Gives back the lanes for all messages that the peer does not want.
  void keep_large_lanes(size_t count);

  enum class RaiseState : uint8_t { kIdle, kQueued, kRunning, kRaised, kAgain, kFailed };
  // Moves all lanes to RTS, continuing where an earlier attempt stopped. May block for about a
  // second a lane. Call begin_raise first, on the thread that owns the lanes; then read raise_state
  // from anywhere.
  void begin_raise(LanePaths paths);
  void raise();
  RaiseState raise_state() const { return raise_state_.load(std::memory_order_acquire); }
  // Valid in kAgain and kFailed.
  const Error& raise_error() const { return raise_error_; }

  // Stops every lane, so that nothing of the peer's can land in our memory any more.
  void stop();

  // By rail.
  const std::vector<std::shared_ptr<const Port>>& ports() const { return ports_; }
  const Port& port_of(const Lane& lane) const { return *ports_[lane.rail]; }
  Role role() const { return role_; }
  verbs::CompletionPlace& completions() { return completions_; }
  const verbs::CompletionPlace& completions() const { return completions_; }
  std::vector<Lane>& data() { return data_; }
  const std::vector<Lane>& data() const { return data_; }
  Lane& control() { return control_; }
  const Lane& control() const { return control_; }
  size_t lane_count() const { return data_.size() + 1; }
  // Data lanes first, the control lane last.
  Lane& lane(size_t index) { return index < data_.size() ? data_[index] : control_; }
  // As in ids of work requests.
  uint32_t number_of(size_t index) const {
    return static_cast<uint32_t>(index < data_.size() ? index : kMaxDataLanes);
  }
  // The lane of a completion, or nullptr for a queue pair that is not ours.
  const Lane* find(uint32_t queue_pair_number) const;
  // Valid once begin_raise was called.
  const LanePaths& paths() const { return paths_; }

 private:
  LaneSet() = default;
  Result<Lane> create_lane(uint8_t rail, const verbs::QueuePairLimits& limits, uint64_t entropy);
  Status raise_lane(size_t index, bool* transient);
  verbs::QueuePairPath path_of(size_t index) const;
  uint8_t traffic_class_of(size_t index) const;

  std::vector<std::shared_ptr<const Port>> ports_;
  Role role_ = Role::kSender;
  uint64_t entropy_ = 0;
  bool has_small_message_lane_ = false;
  verbs::CompletionPlace completions_;
  std::vector<Lane> data_;
  Lane control_;
  LanePaths paths_;
  size_t raised_ = 0;              // lanes in RTS
  bool lane_is_prepared_ = false;  // lane number raised_ is in INIT and has its receives
  Error raise_error_;
  std::atomic<RaiseState> raise_state_{RaiseState::kIdle};
};

// The part of a queue pair's path that all lanes over the same pair of ports share. `port`: ours.
verbs::QueuePairPath common_path(const Port& port, const LanePaths& paths, const Route& route);

// Posts `count` receives without memory, in one call: all they do is take the immediate data of a
// write.
Status post_empty_receives(const Lane& lane, uint64_t work_id, uint32_t count);

// "data lane 1 (QP 0x12 to QP 0x34, UDP source port 51234)"; between ends with several ports also
// which: "data lane 1 over mlx5_0:1 to mlx5_1:1 (…)"
std::string describe_lane(const LaneSet& lanes, const Lane& lane);

// Distinct, deliberate path choices: lane `index` of a connection gets its own 14-bit label, never
// 0.
uint32_t choose_flow_label(uint64_t entropy, size_t index);

}  // namespace rocelane::net
