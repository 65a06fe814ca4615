#include "net/transfer/channel_failure.h"

#include <utility>

#include <fmt/format.h>

#include "verbs/errors.h"

namespace rocelane::net {

Error ChannelFailure::tell() {
  if (untold_.has_value()) {
    Error cause = std::move(*untold_);
    untold_.reset();
    return cause;
  }
  return Error{cause_, "the connection has failed earlier", true};
}

void ChannelFailure::note(Error cause) {
  if (!has_failed()) {
    cause_ = cause.code;
    untold_ = std::move(cause);
    failed_.store(true, std::memory_order_relaxed);
  }
}

void ChannelFailure::note(const ibv_wc& completion, EstablishedConnection& connection) {
  if (!has_failed()) {
    note(Error{ErrorCode::kRemote,
               describe_failed_completion(completion, *connection.lanes, connection.agreement,
                                          connection.own_name, connection.peer_name,
                                          connection.link.peer_is_gone())});
  }
}

void ChannelFailure::note_post(int error_number, EstablishedConnection& connection) {
  note(Error{ErrorCode::kSystem,
             fmt::format("{} to {}: the NIC took no work request: {}", connection.own_name,
                         connection.peer_name, verbs::errno_text(error_number))});
}

}  // namespace rocelane::net
