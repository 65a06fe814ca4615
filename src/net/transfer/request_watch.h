#pragma once

// How both ends of a connection find out that a request has ended: whose turn it is to poll, and
// what a failure of the connection does to it.

#include <cstdint>

#include "base/result.h"
#include "net/connection/established_connection.h"
#include "net/transfer/channel_failure.h"
#include "net/transfer/outcome.h"
#include "net/transfer/request.h"
#include "verbs/completion_hub.h"

namespace rocelane::net {

class RequestWatch {
 public:
  // Both outlive it.
  RequestWatch(EstablishedConnection& connection, ChannelFailure& failure)
      : connection_(connection), hub_(connection.lanes->completions().hub()), failure_(failure) {}

  verbs::CompletionHub& hub() const { return hub_; }

  // Whether there is nothing to be done about the request yet, as most calls find: it misses parts,
  // and somebody has polled in this round. No asks for look(). Without the hub's lock.
  bool is_waiting(const Request& request) {
    return request.pending.load(std::memory_order_relaxed) != 0 && !failure_.has_failed() &&
           hub_.has_been_polled(seen_polls_);
  }

  // Without the hub's lock: takes what has come, of whatever request, unless somebody else has
  // looked in this round. Whoever is told that the request has ended alone uses it from then on.
  Outcome look(const Request& request) {
    if (failure_.has_failed()) {
      return Outcome::kFailed;
    }
    if (request.pending.load(std::memory_order_acquire) == 0) {
      return Outcome::kEnded;
    }
    return hub_.is_poll_due(seen_polls_) ? poll_for(request) : Outcome::kPending;
  }

  // With the lock.
  void poll() {
    if (const int error = hub_.poll()) {
      failure_.note_post(error, connection_);
    }
  }

  // Without the lock: why look() has said that it failed.
  [[gnu::cold]] Error tell();

 private:
  Outcome poll_for(const Request& request);

  EstablishedConnection& connection_;
  verbs::CompletionHub& hub_;
  ChannelFailure& failure_;
  uint32_t seen_polls_ = 0;
};

}  // namespace rocelane::net
