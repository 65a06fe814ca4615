#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "nccl_host/run_loops.h"
#include "nccl_host/schedule.h"

namespace rocelane::nccl_host {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr uint64_t kRoundNs = 1'000;
constexpr uint64_t kLongestStepNs = 1'000'000;
// Sockets live in real time: while connections are set up, a few idle rounds do not mean that
// nothing can happen before the next event.
constexpr auto kRealWait = 20us;
constexpr uint64_t kPatientRounds = 500;
constexpr uint64_t kNearNs = 1'000'000;
constexpr uint64_t kHastyRounds = 2;
// The next event may be a timer from long ago that nobody waits for: what has just arrived is
// noticed first.
constexpr uint64_t kRoundsBeforeALeap = 16;

bool uses_sockets(Stage stage) { return stage != Stage::kMessages; }

uint64_t real_now_ns() {
  return static_cast<uint64_t>(steady_clock::now().time_since_epoch().count());
}

// Connections are waited for in real time.
Result<bool> play(const RunParts& parts, size_t actor, const RoundClock& clock) {
  Rank& rank = *parts.ranks[actor / 2];
  return actor % 2 == 0 ? rank.service_step(parts.state, parts.handles, real_now_ns())
                        : rank.progress_step(parts.state, clock.now_ns());
}

}  // namespace

uint64_t RealRoundClock::now_ns() const { return real_now_ns(); }

void RealRoundClock::after_round(bool moved, Stage stage) {
  if (!moved && uses_sockets(stage)) {
    std::this_thread::sleep_for(kRealWait);
  }
}

void VirtualRoundClock::after_round(bool moved, Stage stage) {
  idle_rounds_ = moved ? 0 : idle_rounds_ + 1;
  if (!moved && uses_sockets(stage)) {
    std::this_thread::sleep_for(kRealWait);
  }
  softverbs_.run_until(next_time(stage));
}

uint64_t VirtualRoundClock::next_time(Stage stage) const {
  const uint64_t next = softverbs_.now_ns() + kRoundNs;
  const uint64_t due = softverbs_.next_event_ns();
  const uint64_t patient = uses_sockets(stage) ? kPatientRounds : kRoundsBeforeALeap;
  const bool is_near = due < next + kNearNs;
  if (idle_rounds_ < kHastyRounds || (idle_rounds_ < patient && !is_near)) {
    return next;
  }
  if (due != UINT64_MAX) {
    return std::max(due, next);
  }
  const uint64_t doublings = std::min<uint64_t>(idle_rounds_ - patient, 10);
  return softverbs_.now_ns() + std::min(kRoundNs << doublings, kLongestStepNs);
}

void VirtualRoundClock::to_full_second() {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  softverbs_.run_until((softverbs_.now_ns() / kSecondNs + 1) * kSecondNs);
  idle_rounds_ = 0;
}

Status run_in_rounds(const RunParts& parts, uint64_t seed, RoundClock& clock,
                     std::chrono::nanoseconds real_limit) {
  Schedule schedule(seed, 2 * parts.ranks.size());
  auto last_move = steady_clock::now();
  while (!parts.conductor.is_done()) {
    bool moved = false;
    for (const size_t actor : schedule.next_round()) {
      const Result<bool> step = play(parts, actor, clock);
      if (!step) {
        return step.error();
      }
      moved = moved || *step;
    }
    const Result<bool> conducted = parts.conductor.step(clock.now_ns());
    if (!conducted) {
      return conducted.error();
    }
    moved = moved || *conducted;
    if (moved) {
      last_move = steady_clock::now();
    } else if (steady_clock::now() - last_move > real_limit) {
      return Error{ErrorCode::kRemote,
                   fmt::format("Nothing has moved in any rank for {} s of real time; the run's "
                               "clock shows {:.6f} s.",
                               std::chrono::duration<double>(real_limit).count(),
                               static_cast<double>(clock.now_ns()) * 1e-9)};
    }
    clock.after_round(moved, parts.state.stage.load());
  }
  return {};
}

}  // namespace rocelane::nccl_host
