#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "nccl_host/receive_end.h"
#include "nccl_host/run_state.h"
#include "nccl_host/send_end.h"

namespace rocelane::nccl_host {

// One rank: its ends and its two threads' work. Each step is short and never waits; true means that
// something moved.
class Rank {
 public:
  // The plans and `settings` must outlive the rank.
  Rank(Net& net, RankPlace place, const std::vector<ConnectionPlan>& plans,
       const EndSettings& settings, uint64_t seed);

  Result<bool> service_step(const RunState& state, Handles& handles, uint64_t now_ns);
  Result<bool> progress_step(const RunState& state, uint64_t now_ns);

  // For the conductor.
  bool is_ready(int connection_limit) const;
  bool is_finished(size_t group_limit) const;
  bool is_closed() const { return closed_.load(std::memory_order_acquire); }
  bool has_left() const { return progress_has_left_.load(std::memory_order_acquire); }
  size_t groups_received() const;
  // Settled while the rank is finished or has left.
  Meter sender_meter() const;
  Meter receiver_meter() const;
  void inspect_what_is_left() const;
  // "rank 0 waits for message 17 …"; only when no thread of the rank runs.
  std::vector<std::string> waits(size_t group_limit) const;

  // For whoever plays the progress thread itself instead of calling progress_step.
  const std::vector<std::unique_ptr<SendEnd>>& sends() const { return sends_; }
  const std::vector<std::unique_ptr<ReceiveEnd>>& receives() const { return receives_; }
  Caller& progress_caller() { return progress_; }

  const RankPlace& place() const { return place_; }
  const Caller& service_caller() const { return service_; }
  const Caller& progress_caller() const { return progress_; }

 private:
  Result<bool> set_up_step(const RunState& state, Handles& handles, uint64_t now_ns);
  Result<bool> close_step();
  Result<bool> tell_attributes(Caller& caller, bool& told);

  Net& net_;
  RankPlace place_;
  Caller service_;
  Caller progress_;
  std::vector<std::unique_ptr<SendEnd>> sends_;
  std::vector<std::unique_ptr<ReceiveEnd>> receives_;
  std::vector<size_t> close_order_;  // ends left to close: sends first, then receives
  bool service_told_attributes_ = false;
  bool progress_told_attributes_ = false;
  std::atomic<bool> progress_has_left_ = false;
  std::atomic<bool> closed_ = false;
};

}  // namespace rocelane::nccl_host
