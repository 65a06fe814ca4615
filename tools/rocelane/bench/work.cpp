#include "bench/work.h"

#include <algorithm>

namespace rocelane::bench {
namespace {

using nccl_host::ReceiveEnd;
using nccl_host::SendEnd;

// One step of every end, receives first, as NCCL's progress thread does. `limit_of`: messages an
// end may start.
template <class LimitOf>
Result<bool> step_all(const Ends& ends, uint64_t now_ns, LimitOf&& limit_of) {
  bool moved = false;
  for (ReceiveEnd* receive : ends.receives) {
    const Result<bool> step =
        receive->progress(*ends.net, *ends.caller, limit_of(*receive), now_ns);
    if (!step) {
      return step;
    }
    moved = moved || *step;
  }
  for (SendEnd* send : ends.sends) {
    const Result<bool> step = send->progress(*ends.net, *ends.caller, limit_of(*send), now_ns);
    if (!step) {
      return step;
    }
    moved = moved || *step;
  }
  return moved;
}

template <class LimitOf>
bool all_finished(const Ends& ends, LimitOf&& limit_of) {
  const auto finished = [&](const auto* end) { return end->is_finished(limit_of(*end)); };
  return std::ranges::all_of(ends.receives, finished) && std::ranges::all_of(ends.sends, finished);
}

}  // namespace

Result<bool> StreamWork::step(uint64_t now_ns) {
  return step_all(ends_, now_ns, [&](const auto&) { return messages_; });
}

bool StreamWork::is_finished() const {
  return all_finished(ends_, [&](const auto&) { return messages_; });
}

// What was asked for still has to come.
void Load::stop_receives(const Ends& ends) {
  if (stopped_ || ends.receives.empty() || !is_over()) {
    return;
  }
  stopped_ = true;
  for (const ReceiveEnd* receive : ends.receives) {
    const size_t posted = receive->groups_posted();
    ran_out_ = ran_out_ || posted >= most_messages_;
    limits_[static_cast<size_t>(receive->plan().number)].store(posted, std::memory_order_release);
  }
}

Result<bool> Load::step(const Ends& ends, uint64_t now_ns) {
  stop_receives(ends);
  return step_all(ends, now_ns, [&](const auto& end) {
    return limits_[static_cast<size_t>(end.plan().number)].load(std::memory_order_acquire);
  });
}

bool Load::is_finished(const Ends& ends) const {
  return is_over() && all_finished(ends, [&](const auto& end) {
           return limits_[static_cast<size_t>(end.plan().number)].load(std::memory_order_acquire);
         });
}

PingPongWork::PingPongWork(Side side, Ends ends, size_t round_trips, Load* load, Ends load_ends)
    : side_(side),
      ends_(std::move(ends)),
      round_trips_(round_trips),
      load_(load),
      load_ends_(std::move(load_ends)) {
  round_trips_ns_.reserve(side == Side::kFirst ? round_trips : 0);
}

Result<bool> PingPongWork::step(uint64_t now_ns) {
  ReceiveEnd& receive = *ends_.receives.front();
  SendEnd& send = *ends_.sends.front();
  if (last_arrival_ns_ == 0) {
    last_arrival_ns_ = now_ns;
  }
  const Result<bool> received = receive.progress(*ends_.net, *ends_.caller, round_trips_, now_ns);
  if (!received) {
    return received;
  }
  note_arrivals(now_ns);
  const size_t may_send = receive.groups_received() + (side_ == Side::kFirst ? 1 : 0);
  const Result<bool> sent =
      send.progress(*ends_.net, *ends_.caller, std::min(may_send, round_trips_), now_ns);
  if (!sent || load_ == nullptr) {
    return sent ? Result<bool>(*received || *sent) : sent;
  }
  const Result<bool> loaded = load_->step(load_ends_, now_ns);
  return loaded ? Result<bool>(*received || *sent || *loaded) : loaded;
}

void PingPongWork::note_arrivals(uint64_t now_ns) {
  const size_t arrived = ends_.receives.front()->groups_received();
  if (side_ != Side::kFirst || arrived == arrived_) {
    return;
  }
  arrived_ = arrived;
  round_trips_ns_.push_back(now_ns - last_arrival_ns_);
  last_arrival_ns_ = now_ns;
  if (arrived_ == round_trips_ && load_ != nullptr) {
    load_->end();
  }
}

bool PingPongWork::is_finished() const {
  const auto all = [&](const auto&) { return round_trips_; };
  return all_finished(ends_, all) && (load_ == nullptr || load_->is_finished(load_ends_));
}

Result<bool> IdleWork::step(uint64_t now_ns) {
  ++done_;
  const Result<bool> moved = step_all(ends_, now_ns, [&](const auto&) { return limit_; });
  return moved ? Result<bool>(true) : moved;
}

}  // namespace rocelane::bench
