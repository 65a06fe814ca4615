#include "net/connection/lane_bring_up.h"

namespace rocelane::net {

LaneBringUp::LaneBringUp(std::shared_ptr<LaneSet> lanes, LanePaths paths, Executor run_elsewhere,
                         TimePoint deadline)
    : lanes_(std::move(lanes)),
      paths_(std::move(paths)),
      run_elsewhere_(std::move(run_elsewhere)),
      deadline_(deadline) {
  start();
}

void LaneBringUp::start() {
  lanes_->begin_raise(paths_);
  // A connection that is given up meanwhile costs nothing more.
  run_elsewhere_([lanes = std::weak_ptr(lanes_)] {
    if (const auto alive = lanes.lock()) {
      alive->raise();
    }
  });
}

Result<bool> LaneBringUp::step(TimePoint now) {
  switch (lanes_->raise_state()) {
    case LaneSet::RaiseState::kRaised:
      return true;
    case LaneSet::RaiseState::kFailed:
      return lanes_->raise_error();
    case LaneSet::RaiseState::kAgain:
      if (now >= deadline_) {
        return lanes_->raise_error();
      }
      last_error_ = lanes_->raise_error();
      start();
      return false;
    case LaneSet::RaiseState::kRunning:
      if (now >= deadline_) {
        return last_error_.value_or(
            Error{ErrorCode::kRemote, "the kernel is still looking for the peer's address"});
      }
      return false;
    case LaneSet::RaiseState::kIdle:
    case LaneSet::RaiseState::kQueued:
      // Others are being raised before us; their trouble is not ours.
      return false;
  }
  return false;
}

}  // namespace rocelane::net
