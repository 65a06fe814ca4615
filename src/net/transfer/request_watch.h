#pragma once

// How both ends of a connection find out that a request has ended: whose turn it is to poll, and
// what a failure of the connection does to it.

#include <cstdint>

#include "base/result.h"
#include "net/connection/established_connection.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/request.h"
#include "verbs/completion_hub.h"

namespace rocelane::net {

class RequestWatch {
 public:
  // Both outlive it.
  RequestWatch(EstablishedConnection& connection, ChannelFailure& failure)
      : connection_(connection), hub_(connection.lanes->completions().hub()), failure_(failure) {}

  verbs::CompletionHub& hub() const { return hub_; }

  // Without the hub's lock, and cheap: nothing can have come since somebody last looked.
  bool is_not_worth_a_look(const Request& request) {
    return request.pending.load(std::memory_order_acquire) > 0 && !failure_.has_failed() &&
           !hub_.is_poll_due(seen_polls_);
  }

  // With the lock.
  Result<bool> has_ended(const Request& request);
  // With the lock: takes what has come, of whatever request.
  Status poll();

 private:
  EstablishedConnection& connection_;
  verbs::CompletionHub& hub_;
  ChannelFailure& failure_;
  uint32_t seen_polls_ = 0;
};

}  // namespace rocelane::net
