#pragma once

// A channel fails once: the first cause is told with a sentence, everything after it without.

#include <optional>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/established_connection.h"

namespace rocelane::net {

class ChannelFailure {
 public:
  bool has_failed() const { return cause_.has_value(); }

  // The error to return for any call on a failed channel.
  [[gnu::cold]] Error again() const;

  // Records `cause` unless there is an earlier one; returns what the caller returns.
  [[gnu::cold]] Error fail(Error cause);
  [[gnu::cold]] Error fail(const ibv_wc& completion, EstablishedConnection& connection);
  [[gnu::cold]] Error fail_post(int error_number, EstablishedConnection& connection);

 private:
  std::optional<ErrorCode> cause_;
};

}  // namespace rocelane::net
