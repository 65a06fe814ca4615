#include "net/transfer/request_watch.h"

namespace rocelane::net {

Status RequestWatch::poll() {
  if (const int error = hub_.poll()) {
    failure_.note_post(error, connection_);
  }
  if (failure_.has_failed()) {
    return failure_.tell();
  }
  return {};
}

Result<bool> RequestWatch::has_ended(const Request& request) {
  if (failure_.has_failed()) {
    return failure_.tell();
  }
  if (request.pending.load(std::memory_order_relaxed) > 0) {
    if (Status status = poll(); !status) {
      return std::move(status).error();
    }
  }
  return request.pending.load(std::memory_order_relaxed) == 0;
}

}  // namespace rocelane::net
