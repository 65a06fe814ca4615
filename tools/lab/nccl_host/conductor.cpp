#include "nccl_host/conductor.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace rocelane::nccl_host {
namespace {

uint64_t process_time_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

Conductor::Conductor(const Ranks& ranks, RunState& state, ConductorSettings settings,
                     const Softverbs::Reader& reader)
    : ranks_(ranks), state_(state), settings_(std::move(settings)), reader_(reader) {
  state_.connection_limit = settings_.set_up_together ? settings_.connections : 1;
}

Snapshot Conductor::look(uint64_t now_ns) const {
  Snapshot snapshot;
  snapshot.now_ns = now_ns;
  snapshot.real_ns =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  snapshot.processor_ns = process_time_ns();
  for (const auto& rank : ranks_) {
    snapshot.senders += rank->sender_meter();
    snapshot.receivers += rank->receiver_meter();
  }
  snapshot.devices = reader_.read();
  return snapshot;
}

bool Conductor::all_ready(int connection_limit) const {
  return std::ranges::all_of(ranks_,
                             [&](const auto& rank) { return rank->is_ready(connection_limit); });
}

bool Conductor::all_finished(size_t group_limit) const {
  return std::ranges::all_of(ranks_,
                             [&](const auto& rank) { return rank->is_finished(group_limit); });
}

size_t Conductor::groups_received() const {
  size_t groups = 0;
  for (const auto& rank : ranks_) {
    groups += rank->groups_received();
  }
  return groups;
}

Result<bool> Conductor::step(uint64_t now_ns) {
  switch (state_.stage.load()) {
    case Stage::kSetUp:
      return step_set_up(now_ns);
    case Stage::kMessages:
      return step_messages(now_ns);
    case Stage::kClosing:
      if (waits_for_leavers_ &&
          std::ranges::all_of(ranks_, [](const auto& rank) { return rank->has_left(); })) {
        waits_for_leavers_ = false;
        end_ = look(now_ns);
      }
      if (!std::ranges::all_of(ranks_, [](const auto& rank) { return rank->is_closed(); })) {
        return false;
      }
      state_.stage = Stage::kDone;
      return true;
    case Stage::kDone:
      return false;
  }
  return false;
}

Result<bool> Conductor::step_set_up(uint64_t now_ns) {
  if (set_up_begin_.real_ns == 0) {
    set_up_begin_ = look(now_ns);
  }
  const int limit = state_.connection_limit.load();
  if (!all_ready(limit)) {
    return false;
  }
  if (limit < settings_.connections) {
    state_.connection_limit = limit + 1;
    return true;
  }
  if (settings_.before_messages) {
    if (const Status ready = settings_.before_messages(); !ready) {
      return ready.error();
    }
  }
  state_.group_limit = settings_.warm_up_groups;
  state_.stage = Stage::kMessages;
  return true;
}

Result<bool> Conductor::start_counting(uint64_t now_ns) {
  if (settings_.before_counting) {
    if (const Status ready = settings_.before_counting(); !ready) {
      return ready.error();
    }
  }
  counting_ = true;
  begin_ = look(now_ns);
  state_.group_limit = settings_.groups;
  return true;
}

void Conductor::start_closing(uint64_t now_ns) {
  if (aborted_) {
    waits_for_leavers_ = true;
  } else {
    end_ = look(now_ns);
  }
  state_.stage = Stage::kClosing;
}

Result<bool> Conductor::step_messages(uint64_t now_ns) {
  if (settings_.abort_after > 0 && counting_ && groups_received() >= settings_.abort_after) {
    aborted_ = true;
    start_closing(now_ns);
    return true;
  }
  if (!all_finished(state_.group_limit.load())) {
    return false;
  }
  if (!counting_) {
    return start_counting(now_ns);
  }
  start_closing(now_ns);
  return true;
}

}  // namespace rocelane::nccl_host
