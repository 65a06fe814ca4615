#pragma once

// Raises the lanes of a connection on another thread and tries again while the peer's address is
// being resolved.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/lane_set.h"

namespace rocelane::net {

class LaneBringUp {
 public:
  // A connection may be given up while its lanes are being raised; whoever lets go last destroys
  // them.
  LaneBringUp(std::shared_ptr<LaneSet> lanes, LanePaths paths, Executor run_elsewhere,
              TimePoint deadline);

  // True when all lanes are in RTS. Error: a final refusal, or the last transient one at the
  // deadline.
  Result<bool> step(TimePoint now);

 private:
  void start();

  std::shared_ptr<LaneSet> lanes_;
  LanePaths paths_;
  Executor run_elsewhere_;
  TimePoint deadline_;
  std::optional<Error> last_error_;  // of the latest attempt that has ended
};

}  // namespace rocelane::net
