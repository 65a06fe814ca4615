#include "net/transfer/send_lane.h"

#include <utility>

namespace rocelane::net {

void SendLane::open(ibv_qp* pair, uint64_t work_id, telemetry::LaneRecorder recorder) {
  recorder_ = std::move(recorder);
  pair_ = pair;
  work_id_ = work_id;
  for (uint32_t i = 0; i < kHeld; ++i) {
    work_[i].sg_list = &pieces_[i];
    work_[i].send_flags = IBV_SEND_SIGNALED;
    work_[i].next = i + 1 < kHeld ? &work_[i + 1] : nullptr;
  }
}

int SendLane::add(const Stripe& stripe) {
  if (held_ == kHeld) {
    if (const int error = post()) {
      return error;
    }
  }
  pieces_[held_] = {stripe.from, stripe.bytes, stripe.local_key};
  ibv_send_wr& work = work_[held_++];
  work.wr_id = work_id_ | stripe.id;
  work.num_sge = stripe.bytes > 0 ? 1 : 0;
  work.opcode = stripe.with_immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  work.imm_data = stripe.immediate;
  work.wr.rdma.remote_addr = stripe.to;
  work.wr.rdma.rkey = stripe.remote_key;
  ++outstanding_;
  return 0;
}

int SendLane::post() {
  ibv_send_wr& last = work_[held_ - 1];
  ibv_send_wr* const next = last.next;
  last.next = nullptr;
  ibv_send_wr* refused = nullptr;
  const int error = ibv_post_send(pair_, work_.data(), &refused);
  last.next = next;
  const uint64_t now = clock_->now();
  for (uint32_t i = 0; i < held_; ++i) {
    const uint32_t bytes = work_[i].num_sge == 0 ? 0 : pieces_[i].length;
    out_[next_++ % kSendDepth] = {now, bytes};
    bytes_ += bytes;
  }
  held_ = 0;
  return error;
}

int SendLane::complete_one(uint64_t now) {
  const Out& oldest = out_[oldest_++ % kSendDepth];
  bytes_ -= oldest.bytes;
  --outstanding_;
  recorder_.completed(oldest.bytes, clock_->nanoseconds(now - oldest.posted_at));
  return post_if_idle();
}

}  // namespace rocelane::net
