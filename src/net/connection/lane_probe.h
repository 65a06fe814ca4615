#pragma once

// Proof that packets cross every lane in both directions: one empty write with immediate data each
// way. A queue pair that reached RTS proves nothing; the first packet does.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/connection/lane_set.h"

namespace rocelane::net {

class LaneProbe {
 public:
  explicit LaneProbe(std::shared_ptr<LaneSet> lanes) : lanes_(std::move(lanes)) {}

  // The peer's lanes must be in RTR or beyond.
  Status send(TimePoint now);

  struct Progress {
    bool finished = false;
    std::optional<ibv_wc> failure;
  };
  Progress step(TimePoint now);

  // The lanes that are not proved yet: "no acknowledgement and no probe of the peer's on data lane
  // 1 (…)".
  std::string describe_missing() const;
  // From post to acknowledgement, of the slowest lane.
  Duration slowest_round_trip() const { return slowest_round_trip_; }

 private:
  struct Proof {
    bool acknowledged = false;
    bool heard = false;
  };

  void note(const ibv_wc& completion, TimePoint now);

  std::shared_ptr<LaneSet> lanes_;
  std::vector<Proof> proofs_ = std::vector<Proof>(lanes_->lane_count());
  TimePoint sent_at_;
  Duration slowest_round_trip_{};
};

}  // namespace rocelane::net
