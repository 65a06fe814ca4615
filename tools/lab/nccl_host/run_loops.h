#pragma once

// Two ways to run the ranks: with the threads NCCL has, or in one thread that plays them all.

#include <chrono>
#include <cstdint>
#include <functional>

#include "nccl_host/conductor.h"

namespace rocelane::nccl_host {

struct RunParts {
  const Conductor::Ranks& ranks;
  Conductor& conductor;
  RunState& state;
  Handles& handles;
};

// Every rank with a service and a progress thread, in real time. The first error ends it.
Status run_with_threads(const RunParts& parts);

// The clock of a single-threaded run; it may move between rounds only.
class RoundClock {
 public:
  virtual ~RoundClock() = default;
  virtual uint64_t now_ns() const = 0;
  // After every round. `moved`: something happened in it.
  virtual void after_round(bool moved, Stage stage) = 0;
};

class RealRoundClock final : public RoundClock {
 public:
  uint64_t now_ns() const override;
  void after_round(bool moved, Stage stage) override;
};

// Softverbs' virtual clock. A round takes a microsecond; when nothing moves, time jumps to the next
// event, or by growing steps when none is due.
class VirtualRoundClock final : public RoundClock {
 public:
  explicit VirtualRoundClock(const Softverbs& softverbs) : softverbs_(softverbs) {}
  uint64_t now_ns() const override { return softverbs_.now_ns(); }
  void after_round(bool moved, Stage stage) override;
  // To the next full second: what follows does not depend on how long set-up took.
  void to_full_second();

 private:
  uint64_t next_time(Stage stage) const;

  const Softverbs& softverbs_;
  uint64_t idle_rounds_ = 0;
};

// One loop over all threads of all ranks in an order by seed. `real_limit`: of a time in which
// nothing moves.
Status run_in_rounds(const RunParts& parts, uint64_t seed, RoundClock& clock,
                     std::chrono::nanoseconds real_limit);

}  // namespace rocelane::nccl_host
