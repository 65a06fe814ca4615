#pragma once

// The sending end of a connection. Data path: no allocation, log or system call, and no lock that
// another busy thread wants; errors leave through ChannelFailure, which is cold.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/established_connection.h"
#include "net/memory/registration.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/channel_recorders.h"
#include "net/transfer/clear_to_send_ring.h"
#include "net/transfer/lane_choice.h"
#include "net/transfer/request.h"
#include "net/transfer/request_watch.h"
#include "net/transfer/send_lane.h"
#include "net/transfer/stripe_immediate.h"
#include "net/transfer/stripe_plan.h"
#include "verbs/completion_hub.h"

namespace rocelane::net {

class SendChannel final : verbs::CompletionSink {
 public:
  SendChannel(std::unique_ptr<EstablishedConnection> connection, ChannelRecorders recorders);
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;
  ~SendChannel();

  // False: send would return nullptr, for the receiver has not said where. NCCL asks far more often
  // than it sends, and this costs next to nothing. For the thread that sends.
  bool may_send() const {
    return failure_.has_failed() || std::atomic_ref(*awaited_).load(std::memory_order_relaxed) != 0;
  }
  // nullptr: the receiver has not said where, or too much is under way; ask again.
  // `registration`: of the data; nullptr only for an empty message.
  Result<Request*> send(const void* data, size_t bytes, uint32_t tag,
                        const Registration* registration);
  // kEnded: the request is gone, and `size`, unless nullptr, has what was sent.
  Outcome test(Request& request, int* size);
  // After kFailed.
  [[gnu::cold]] Error tell() { return watch_.tell(); }

 private:
  static constexpr uint32_t kRequests = 256;
  static_assert(kRequests >= kReceiveSlots, "NCCL sends one message for each receive it may have");

  // The oldest grouped receive with buffers still unclaimed.
  struct Group : ClearToSendGroup {
    uint32_t count = 0;    // 0: it has not come
    uint32_t claimed = 0;  // bit mask
  };

  // Which ports a lane goes over.
  struct Rails {
    uint8_t own = 0;
    uint8_t peer = 0;
  };

  // A message on its way to the lanes.
  struct Departure {
    SendLane::Stripe stripe;  // what all of its stripes have in common
    StripeImmediate immediate;
    const Registration* registration = nullptr;
    uint32_t record = 0;  // in group_
    uint64_t from = 0;
    uint64_t to = 0;
    size_t bytes = 0;
  };

  // A stripe costs a lane something beside its bytes; otherwise empty messages would weigh nothing.
  static constexpr uint64_t kStripeLoad = 256;

  void take(uint32_t id, const ibv_wc& completion, uint64_t now) override;
  bool read_group();
  const ClearToSend* claim(uint32_t tag);
  void note_claimed(uint32_t index);
  void await_next_group();
  bool lanes_have_room(uint32_t stripes) const;
  bool is_small(size_t bytes) const { return bytes < small_bytes_; }
  std::span<const uint64_t> loads() const { return {loads_.data(), lane_count_}; }
  // These say 0, or what the NIC refused.
  int post(Departure& message, const StripePlan& plan, uint32_t lane, Request& request);
  int post_whole(Departure& message, uint32_t lane);
  int post_shares(Departure& message, uint32_t stripes, Request& request);
  int post_evenly(Departure& message, const StripePlan& plan, bool small);
  void use_keys_of(Departure& message, uint32_t lane) const;
  int add(Departure& message, uint32_t lane, uint32_t number, size_t offset, size_t bytes);
  void pass_turn(uint32_t lanes) { next_lane_ = (next_lane_ + lanes) % lane_count_; }
  [[gnu::cold]] Error too_large(size_t bytes) const;

  std::unique_ptr<EstablishedConnection> connection_;
  ClearToSendRing ring_;    // written by the peer's NIC; used records are marked here
  uint32_t cursor_ = 0;     // the place of group_ in it, not wrapped
  uint32_t sequence_ = 1;   // of group_
  uint32_t lane_count_;     // lanes for all messages; behind them, perhaps, one for small ones
  uint32_t next_lane_ = 0;  // among lanes that are equally loaded
  size_t small_bytes_;      // 0: no message is small
  StripeLimits limits_;
  Group group_;
  uint32_t* awaited_ = nullptr;  // 0 as long as there is nowhere to send to
  bool has_several_ports_;       // at either end: then lanes differ in their keys
  std::array<Rails, kMaxDataLanes> rails_{};
  std::array<SendLane, kMaxDataLanes> lanes_;
  std::array<uint64_t, kMaxDataLanes> loads_{};  // under way or held, by lane
  std::array<Request, kRequests> requests_;
  std::array<uint16_t, kRequests> free_{};  // stack of free places in requests_
  uint32_t free_count_ = kRequests;
  telemetry::ConnectionRecorder recorder_;
  ChannelFailure failure_;
  RequestWatch watch_{*connection_, failure_};
};

}  // namespace rocelane::net
