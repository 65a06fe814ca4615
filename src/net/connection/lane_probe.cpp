#include "net/connection/lane_probe.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "verbs/errors.h"

namespace rocelane::net {

LaneProbe::LaneProbe(std::shared_ptr<LaneSet> lanes) : lanes_(std::move(lanes)) {
  lanes_->completions().set_sink(this);
}

LaneProbe::~LaneProbe() { lanes_->completions().set_sink(nullptr); }

Status LaneProbe::send(TimePoint now) {
  const std::lock_guard held(lanes_->completions().hub());
  sent_at_ = now;
  now_ = now;
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    ibv_send_wr request{};
    request.wr_id = lanes_->completions().work_id(work_kind::kProbe | lanes_->number_of(i));
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(lanes_->lane(i).pair.get(), &request, &refused);
        error != 0) {
      return verbs::call_failed("ibv_post_send", lanes_->port_of(lanes_->lane(i)).usable().name,
                                error);
    }
  }
  return {};
}

LaneProbe::Progress LaneProbe::step(TimePoint now) {
  verbs::CompletionHub& hub = lanes_->completions().hub();
  const std::lock_guard held(hub);
  now_ = now;
  // Until nothing more comes: a step that comes late must not miss a proof that is there.
  size_t before = 0;
  do {
    before = proofs();
    if (hub.poll() != 0) {
      break;
    }
  } while (proofs() != before);
  Progress progress;
  progress.failure = failure_;
  progress.finished = !failure_.has_value() && before == 2 * lanes_->lane_count();
  return progress;
}

size_t LaneProbe::proofs() const {
  size_t count = 0;
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    const Proof& proof = proof_of(i);
    count += (proof.acknowledged ? 1U : 0U) + (proof.heard ? 1U : 0U);
  }
  return count;
}

void LaneProbe::take(uint32_t id, const ibv_wc& completion, uint64_t /*now*/) {
  if (completion.status != IBV_WC_SUCCESS) {
    failure_ = failure_.value_or(completion);
    return;
  }
  Proof& proof = proofs_[std::min<uint32_t>(id & kLaneBits, kMaxDataLanes)];
  if ((id & work_kind::kReceive) != 0) {
    proof.heard = true;
  } else {
    proof.acknowledged = true;
    proof.round_trip = now_ - sent_at_;
  }
}

std::vector<Duration> LaneProbe::round_trips() const {
  std::vector<Duration> times;
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    times.push_back(proof_of(i).round_trip);
  }
  return times;
}

const Lane* LaneProbe::first_missing() const {
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    if (const Proof& proof = proof_of(i); !proof.acknowledged || !proof.heard) {
      return &lanes_->lane(i);
    }
  }
  return nullptr;
}

std::string LaneProbe::describe_missing() const {
  std::string text;
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    const Proof& proof = proof_of(i);
    if (proof.acknowledged && proof.heard) {
      continue;
    }
    const std::string_view what =
        proof.acknowledged ? "no probe of the peer's"
                           : (proof.heard ? "no acknowledgement"
                                          : "no acknowledgement and no probe of the peer's");
    text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", what,
                        describe_lane(*lanes_, lanes_->lane(i)));
  }
  return text;
}

}  // namespace rocelane::net
