#pragma once

// A channel fails once: the first cause is told with a sentence, everything after it without. Its
// user holds the hub's lock, but for has_failed().

#include <atomic>
#include <optional>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/established_connection.h"

namespace rocelane::net {

class ChannelFailure {
 public:
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }

  // Records a cause unless there is an earlier one.
  [[gnu::cold]] void note(Error cause);
  [[gnu::cold]] void note(const ibv_wc& completion, EstablishedConnection& connection);
  [[gnu::cold]] void note_post(int error_number, EstablishedConnection& connection);

  // The error to return for any call on a failed channel: the cause itself the first time.
  [[gnu::cold]] Error tell();
  [[gnu::cold]] Error tell(Error cause) {
    note(std::move(cause));
    return tell();
  }

 private:
  std::atomic<bool> failed_{false};  // looked at without the hub's lock, too
  ErrorCode cause_ = ErrorCode::kInternal;
  std::optional<Error> untold_;
};

}  // namespace rocelane::net
