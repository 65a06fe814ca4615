#include "net/transfer/channel_failure.h"

#include <fmt/format.h>

#include "verbs/errors.h"

namespace rocelane::net {

Error ChannelFailure::again() const {
  return Error{*cause_, "the connection has failed earlier", true};
}

Error ChannelFailure::fail(Error cause) {
  if (has_failed()) {
    return again();
  }
  cause_ = cause.code;
  return cause;
}

Error ChannelFailure::fail(const ibv_wc& completion, EstablishedConnection& connection) {
  if (has_failed()) {
    return again();
  }
  return fail(Error{ErrorCode::kRemote,
                    describe_failed_completion(completion, *connection.lanes, connection.agreement,
                                               connection.own_name, connection.peer_name,
                                               connection.link.peer_is_gone())});
}

Error ChannelFailure::fail_post(int error_number, EstablishedConnection& connection) {
  return fail(Error{ErrorCode::kSystem,
                    fmt::format("{} to {}: the NIC took no work request: {}", connection.own_name,
                                connection.peer_name, verbs::errno_text(error_number))});
}

}  // namespace rocelane::net
