#pragma once

// The sending end of a connection. One thread: NCCL's progress thread of this connection.
// Data path: no allocation, lock, log or system call; errors leave through ChannelFailure, which is
// cold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/established_connection.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/request.h"
#include "net/transfer/stripe_immediate.h"
#include "net/transfer/stripe_plan.h"

namespace rocelane::net {

class SendChannel {
 public:
  explicit SendChannel(std::unique_ptr<EstablishedConnection> connection);
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;
  ~SendChannel();

  // nullptr: the receiver has not said where, or too much is under way; ask again.
  Result<Request*> send(const void* data, size_t bytes, uint32_t tag, uint32_t local_key);
  Result<bool> test(Request& request, int* size);

  const Port& port() const { return connection_->lanes->port(); }

 private:
  static constexpr uint32_t kRequests = 256;
  static_assert(kRequests >= kReceiveSlots, "NCCL sends one message for each receive it may have");

  // The oldest grouped receive with buffers still unclaimed.
  struct Group {
    std::array<ClearToSend, kGroupedReceives> records{};
    uint32_t claimed = 0;  // bit mask
    bool complete = false;
  };

  bool read_group();
  const ClearToSend* claim(uint32_t tag);
  bool lanes_have_room(uint32_t stripes) const;
  void post(const ClearToSend& record, const StripePlan& plan, const std::byte* data, size_t bytes,
            uint32_t local_key, Request& request, int* error_number);
  [[gnu::cold]] Error too_large(size_t bytes) const;
  Request* take_request();
  Status poll();

  std::unique_ptr<EstablishedConnection> connection_;
  ClearToSend* ring_;  // written by the peer's NIC, only read here
  Group group_;
  uint32_t sequence_ = 1;  // of group_
  size_t next_lane_ = 0;
  std::array<uint32_t, kMaxDataLanes> outstanding_{};  // work requests on each lane
  std::array<Request, kRequests> requests_{};
  std::array<uint16_t, kRequests> free_{};  // stack of free places in requests_
  uint32_t free_count_ = kRequests;
  std::array<ibv_send_wr, kMaxStripes> work_{};
  std::array<ibv_sge, kMaxStripes> pieces_{};
  ChannelFailure failure_;
};

}  // namespace rocelane::net
