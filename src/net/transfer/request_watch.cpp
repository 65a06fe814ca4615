#include "net/transfer/request_watch.h"

#include <mutex>

namespace rocelane::net {

Outcome RequestWatch::poll_for(const Request& request) {
  const std::lock_guard held(hub_);
  poll();
  if (failure_.has_failed()) {
    return Outcome::kFailed;
  }
  return request.pending.load(std::memory_order_relaxed) == 0 ? Outcome::kEnded : Outcome::kPending;
}

Error RequestWatch::tell() {
  const std::lock_guard held(hub_);
  return failure_.tell();
}

}  // namespace rocelane::net
