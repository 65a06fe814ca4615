#pragma once

// The receiving end of a connection. Data path: no allocation, log or system call, and no lock that
// another busy thread wants; errors leave through ChannelFailure, which is cold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/established_connection.h"
#include "net/memory/registration.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/channel_recorders.h"
#include "net/transfer/clear_to_send_queue.h"
#include "net/transfer/flush_lane.h"
#include "net/transfer/receive_group.h"
#include "net/transfer/request.h"
#include "net/transfer/request_watch.h"
#include "verbs/completion_hub.h"

namespace rocelane::net {

// One buffer of a grouped receive.
struct Landing {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t tag = 0;
  const Registration* registration = nullptr;  // only of an empty one it may be nullptr
};

class ReceiveChannel final : verbs::CompletionSink {
 public:
  // `flush_lanes`: only where GPU memory is received.
  static Result<std::unique_ptr<ReceiveChannel>> create(
      std::unique_ptr<EstablishedConnection> connection, std::vector<FlushLane> flush_lanes,
      ChannelRecorders recorders);
  ReceiveChannel(const ReceiveChannel&) = delete;
  ReceiveChannel& operator=(const ReceiveChannel&) = delete;
  ~ReceiveChannel();

  // nullptr: too much is under way; ask again. Needs 1..kGroupedReceives landings.
  // `completion_is_optional`: whoever waits for the data sees them in memory; the request may end
  // before they are there, and its size says nothing. Only of one landing.
  Result<Request*> receive(std::span<const Landing> landings, bool completion_is_optional);
  // Over every port that receives. Needs can_flush().
  Result<Request*> flush(uint64_t address, const Registration& registration);
  // `sizes`: nullptr, or room for one entry per buffer. kEnded: the request is gone.
  Outcome test(Request& request, int* sizes);
  // After kFailed.
  [[gnu::cold]] Error tell() { return watch_.tell(); }

  bool can_flush() const { return !flush_lanes_.empty(); }

 private:
  ReceiveChannel(std::unique_ptr<EstablishedConnection> connection, ClearToSendQueue announcements,
                 std::vector<FlushLane> flush_lanes, ChannelRecorders recorders);

  void take(uint32_t id, const ibv_wc& completion, uint64_t /*now*/) override;
  void take_stripe(uint32_t lane, const ibv_wc& completion);
  void finish(uint32_t slot);
  void refill(uint32_t lane);
  Request* claim_request();
  bool may_go_silent(bool completion_is_optional) const;
  void announce(std::span<const Landing> landings, uint8_t flags);
  ClearToSendKeys other_keys(const Registration* registration) const;
  void post_announcements();
  uint64_t work_id_of_flush(uint32_t slot) const;

  static constexpr uint32_t kFlushes = FlushLane::kDepth;

  std::unique_ptr<EstablishedConnection> connection_;
  ClearToSendQueue announcements_;
  std::vector<FlushLane> flush_lanes_;
  uint32_t sequence_ = 1;     // of the next group
  uint32_t confirmed_ = 0;    // the sender has seen all clear-to-sends of groups before this one
  uint32_t open_ = 0;         // groups announced, or about to be, that still miss data
  uint32_t held_groups_ = 0;  // of these, about to be
  std::array<ReceiveGroup, kReceiveSlots> groups_{};
  std::array<uint32_t, kReceiveSlots> sequences_{};
  std::array<Request, kReceiveSlots> requests_;
  std::array<Request, kFlushes> flushes_;
  std::array<uint32_t, kMaxDataLanes> used_receives_{};
  ChannelRecorders recorders_;
  ChannelFailure failure_;
  RequestWatch watch_{*connection_, failure_};
};

}  // namespace rocelane::net
