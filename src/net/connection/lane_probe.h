#pragma once

// Proof that packets cross every lane in both directions: one empty write with immediate data each
// way. A queue pair that reached RTS proves nothing; the first packet does.

#include <array>
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

// The peer may send its probes at any time from the moment our lanes are up, so this exists before.
class LaneProbe final : verbs::CompletionSink {
 public:
  explicit LaneProbe(std::shared_ptr<LaneSet> lanes);
  LaneProbe(const LaneProbe&) = delete;
  LaneProbe& operator=(const LaneProbe&) = delete;
  ~LaneProbe();

  // The peer's lanes must be in RTR or beyond.
  Status send(TimePoint now);

  struct Progress {
    bool finished = false;
    std::optional<ibv_wc> failure;
  };
  Progress step(TimePoint now);

  // A lane that is not proved yet, or nullptr.
  const Lane* first_missing() const;
  // The lanes that are not proved yet: "no acknowledgement and no probe of the peer's on data lane
  // 1 (…)".
  std::string describe_missing() const;
  // From post to acknowledgement, as of the step that found it; by lane, the control lane last.
  std::vector<Duration> round_trips() const;

 private:
  struct Proof {
    bool acknowledged = false;
    bool heard = false;
    Duration round_trip{};
  };

  const Proof& proof_of(size_t lane) const { return proofs_[lanes_->number_of(lane)]; }
  size_t proofs() const;  // seen, of two a lane
  void take(uint32_t id, const ibv_wc& completion, uint64_t /*now*/) override;

  std::shared_ptr<LaneSet> lanes_;
  std::array<Proof, kMaxDataLanes + 1> proofs_{};  // by lane number
  TimePoint sent_at_;
  TimePoint now_;
  std::optional<ibv_wc> failure_;
};

}  // namespace rocelane::net
