#pragma once

// The receiving end of a connection. One thread: NCCL's progress thread of this connection.
// Data path: no allocation, lock, log or system call; errors leave through ChannelFailure, which is
// cold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/established_connection.h"
#include "net/memory/registered_buffer.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/flush_lane.h"
#include "net/transfer/receive_group.h"
#include "net/transfer/request.h"

namespace rocelane::net {

// One buffer of a grouped receive.
struct Landing {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t tag = 0;
  uint32_t key = 0;
};

class ReceiveChannel {
 public:
  // `flush_lane`: only where GPU memory is received.
  static Result<std::unique_ptr<ReceiveChannel>> create(
      std::unique_ptr<EstablishedConnection> connection, std::optional<FlushLane> flush_lane);
  ReceiveChannel(const ReceiveChannel&) = delete;
  ReceiveChannel& operator=(const ReceiveChannel&) = delete;
  ~ReceiveChannel();

  // nullptr: too much is under way; ask again. Needs 1..kGroupedReceives landings.
  Result<Request*> receive(std::span<const Landing> landings);
  // nullptr: nothing to wait for.
  Result<Request*> flush(uint64_t address, uint32_t key);
  // `sizes`: nullptr, or room for one entry per buffer.
  Result<bool> test(Request& request, int* sizes);

  bool can_flush() const { return flush_lane_.has_value(); }
  const Port& port() const { return connection_->lanes->port(); }

 private:
  ReceiveChannel(std::unique_ptr<EstablishedConnection> connection, RegisteredBuffer staging,
                 std::optional<FlushLane> flush_lane);

  int announce(std::span<const Landing> landings);
  Status poll();
  Status take(const ibv_wc& completion);
  Status refill(uint32_t queue_pair_number);
  Result<bool> test_flush(Request& request);

  static constexpr uint32_t kFlushes = FlushLane::kDepth;

  std::unique_ptr<EstablishedConnection> connection_;
  RegisteredBuffer staging_;  // records on their way; a copy of the sender's ring
  std::optional<FlushLane> flush_lane_;
  uint32_t sequence_ = 1;
  std::array<ReceiveGroup, kReceiveSlots> groups_{};
  std::array<Request, kReceiveSlots> requests_{};
  std::array<Request, kFlushes> flushes_{};
  uint32_t announced_ = 0;  // clear-to-send work requests not known to be finished
  std::array<uint32_t, kMaxDataLanes> used_receives_{};
  ChannelFailure failure_;
};

}  // namespace rocelane::net
