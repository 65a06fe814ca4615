#pragma once

// Posts stripes on one data lane. Several of them share a call while the lane is busy anyway: the
// NIC has enough to do, and a call costs the CPU as much as a work request.

#include <array>
#include <cstdint>

#include <infiniband/verbs.h>

#include "base/tick_clock.h"
#include "net/connection/lane_set.h"
#include "net/health/recorders.h"

namespace rocelane::net {

class SendLane {
 public:
  SendLane() = default;
  // `work_id`: of the lane's data; the low 16 bits are given with each stripe.
  void open(ibv_qp* pair, uint64_t work_id, telemetry::LaneRecorder recorder);

  struct Stripe {
    uint16_t id = 0;
    uint64_t from = 0;
    uint64_t to = 0;
    uint32_t bytes = 0;
    uint32_t local_key = 0;
    uint32_t remote_key = 0;
    uint32_t immediate = 0;  // network byte order
    bool with_immediate = true;
  };

  bool has_room(uint32_t stripes) const { return outstanding_ + stripes <= kSendDepth; }
  // Needs room. 0, or what the NIC refused it with.
  int add(const Stripe& stripe);
  // Posts what waits, when the lane has little else to do. Call it after the last stripe of a
  // message.
  int post_if_idle() { return held_ == 0 || (bytes_ >= kBusyBytes && held_ < kHeld) ? 0 : post(); }
  // Of the oldest stripe that is out.
  uint32_t oldest_bytes() const { return out_[oldest_ % kSendDepth].bytes; }
  // The oldest stripe that is out has completed, by `now` of the tick clock.
  int complete_one(uint64_t now);

 private:
  // A few microseconds of the fastest port: longer than the time between two rounds of NCCL's
  // thread.
  static constexpr uint64_t kBusyBytes = uint64_t{256} * 1024;
  static constexpr uint32_t kHeld = 4;

  int post();

  const TickClock* clock_ = &TickClock::instance();
  telemetry::LaneRecorder recorder_;
  ibv_qp* pair_ = nullptr;
  uint64_t work_id_ = 0;
  uint32_t held_ = 0;
  uint32_t outstanding_ = 0;  // held ones included
  uint64_t bytes_ = 0;
  struct Out {
    uint64_t posted_at;
    uint32_t bytes;
  };
  uint32_t next_ = 0, oldest_ = 0;  // in out_
  std::array<Out, kSendDepth> out_{};
  std::array<ibv_send_wr, kHeld> work_{};
  std::array<ibv_sge, kHeld> pieces_{};
};

}  // namespace rocelane::net
