#pragma once

// Who carries out the works of a measurement: a thread for each, as ranks have them, or one thread
// for all, so that every run takes the same steps.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "bench/work.h"
#include "nccl_host/run_loops.h"

namespace rocelane::bench {

// By the players' clock.
struct PlayedTime {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
};

class Players {
 public:
  virtual ~Players() = default;
  // Until every work is finished, the first error, or until the players are told to stop, which is
  // one too. The time ends with the last step.
  virtual Result<PlayedTime> play(std::span<const std::unique_ptr<Work>> works) = 0;
};

// Threads that live as long as the players: the same thread always plays the same place. Real time.
// `stop` must outlive the players; anybody may set it.
std::unique_ptr<Players> players_with_threads(size_t places, const std::atomic<bool>& stop);

// The caller's thread, the works in turn. `clock` and `stop` must outlive the players. `stage`:
// what the works are part of, for the clock.
std::unique_ptr<Players> players_in_rounds(nccl_host::RoundClock& clock, nccl_host::Stage stage,
                                           const std::atomic<bool>& stop);

}  // namespace rocelane::bench
