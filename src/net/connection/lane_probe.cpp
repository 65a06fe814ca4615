#include "net/connection/lane_probe.h"

#include <algorithm>

#include <fmt/format.h>

#include "verbs/errors.h"

namespace rocelane::net {

Status LaneProbe::send(TimePoint now) {
  sent_at_ = now;
  for (size_t i = 0; i < lanes_->lane_count(); ++i) {
    ibv_send_wr request{};
    request.wr_id = i;
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(lanes_->lane(i).pair.get(), &request, &refused);
        error != 0) {
      return verbs::call_failed("ibv_post_send", lanes_->port().usable().name, error);
    }
  }
  return {};
}

LaneProbe::Progress LaneProbe::step(TimePoint now) {
  Progress progress;
  ibv_wc completion{};
  // Until it is empty: a step that comes late must not miss a proof that is there.
  while (ibv_poll_cq(lanes_->completions(), 1, &completion) > 0) {
    if (completion.status != IBV_WC_SUCCESS) {
      progress.failure = completion;
      return progress;
    }
    note(completion, now);
  }
  progress.finished = std::all_of(proofs_.begin(), proofs_.end(), [](const Proof& proof) {
    return proof.acknowledged && proof.heard;
  });
  return progress;
}

void LaneProbe::note(const ibv_wc& completion, TimePoint now) {
  for (size_t i = 0; i < proofs_.size(); ++i) {
    if (lanes_->lane(i).pair.number() != completion.qp_num) {
      continue;
    }
    if ((completion.opcode & IBV_WC_RECV) != 0) {
      proofs_[i].heard = true;
    } else {
      proofs_[i].acknowledged = true;
      slowest_round_trip_ = std::max(slowest_round_trip_, now - sent_at_);
    }
  }
}

std::string LaneProbe::describe_missing() const {
  std::string text;
  for (size_t i = 0; i < proofs_.size(); ++i) {
    const Proof& proof = proofs_[i];
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
