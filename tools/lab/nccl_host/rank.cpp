#include "nccl_host/rank.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nccl_host/seeded_random.h"

namespace rocelane::nccl_host {
namespace {

NcclNetAttrV12 attributes_of(size_t sends, size_t receives) {
  const auto flows = [](size_t peers) {
    const auto count = static_cast<int32_t>(peers);
    return NcclNetCommAttrV11{count, count, 1, 1};
  };
  return {flows(sends), flows(receives), ~0U, ~0U, ~0U};
}

}  // namespace

Rank::Rank(Net& net, RankPlace place, const std::vector<ConnectionPlan>& plans,
           const EndSettings& settings, uint64_t seed)
    : net_(net),
      place_(place),
      service_(fmt::format("rank {}'s service thread", place.rank)),
      progress_(fmt::format("rank {}'s progress thread", place.rank)) {
  for (const ConnectionPlan& plan : plans) {
    if (plan.route.from == place.rank) {
      sends_.push_back(std::make_unique<SendEnd>(plan, settings));
    }
    if (plan.route.to == place.rank) {
      receives_.push_back(std::make_unique<ReceiveEnd>(plan, settings));
    }
  }
  close_order_.resize(sends_.size() + receives_.size());
  std::iota(close_order_.begin(), close_order_.end(), size_t{0});
  SeededRandom random(seed * 7919 + static_cast<uint64_t>(place.rank));
  random.shuffle(close_order_);
}

Result<bool> Rank::tell_attributes(Caller& caller, bool& told) {
  if (told) {
    return false;
  }
  told = true;
  NcclNetAttrV12 attributes = attributes_of(sends_.size(), receives_.size());
  const NcclResult result =
      caller.call("setNetAttr", [&] { return net_.set_attributes(place_.context, &attributes); });
  if (result != kNcclSuccess) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{}: setNetAttr returned {}.", caller.who(), result_text(result))};
  }
  return true;
}

Result<bool> Rank::service_step(const RunState& state, Handles& handles, uint64_t now_ns) {
  switch (state.stage.load(std::memory_order_acquire)) {
    case Stage::kSetUp:
      return set_up_step(state, handles, now_ns);
    case Stage::kClosing:
      return has_left() ? close_step() : Result<bool>(false);
    default:
      return false;
  }
}

Result<bool> Rank::set_up_step(const RunState& state, Handles& handles, uint64_t now_ns) {
  Result<bool> told = tell_attributes(service_, service_told_attributes_);
  if (!told) {
    return told;
  }
  bool moved = *told;
  const int limit = state.connection_limit.load(std::memory_order_acquire);
  const auto step_all = [&](auto& ends) -> Status {
    for (auto& end : ends) {
      if (end->plan().number >= limit) {
        continue;
      }
      const Result<bool> step = end->set_up(net_, service_, place_, handles, now_ns);
      if (!step) {
        return step.error();
      }
      moved = moved || *step;
    }
    return {};
  };
  if (const Status received = step_all(receives_); !received) {
    return received.error();
  }
  if (const Status sent = step_all(sends_); !sent) {
    return sent.error();
  }
  return moved;
}

Result<bool> Rank::close_step() {
  if (close_order_.empty()) {
    return !closed_.exchange(true, std::memory_order_acq_rel);
  }
  const size_t end = close_order_.back();
  close_order_.pop_back();
  const Status closed = end < sends_.size() ? sends_[end]->close(net_, service_)
                                            : receives_[end - sends_.size()]->close(net_, service_);
  return closed ? Result<bool>(true) : Result<bool>(closed.error());
}

Result<bool> Rank::progress_step(const RunState& state, uint64_t now_ns) {
  const Stage stage = state.stage.load(std::memory_order_acquire);
  if (stage == Stage::kClosing) {
    return !progress_has_left_.exchange(true, std::memory_order_acq_rel);
  }
  if (stage != Stage::kMessages) {
    return false;
  }
  Result<bool> told = tell_attributes(progress_, progress_told_attributes_);
  if (!told) {
    return told;
  }
  bool moved = *told;
  const size_t limit = state.group_limit.load(std::memory_order_acquire);
  for (const auto& receive : receives_) {
    const Result<bool> step = receive->progress(net_, progress_, limit, now_ns);
    if (!step) {
      return step;
    }
    moved = moved || *step;
  }
  for (const auto& send : sends_) {
    const Result<bool> step = send->progress(net_, progress_, limit, now_ns);
    if (!step) {
      return step;
    }
    moved = moved || *step;
  }
  return moved;
}

bool Rank::is_ready(int connection_limit) const {
  const auto ready = [&](const auto& end) {
    return end->plan().number >= connection_limit || end->is_ready();
  };
  return std::ranges::all_of(sends_, ready) && std::ranges::all_of(receives_, ready);
}

bool Rank::is_finished(size_t group_limit) const {
  const auto finished = [&](const auto& end) { return end->is_finished(group_limit); };
  return std::ranges::all_of(sends_, finished) && std::ranges::all_of(receives_, finished);
}

size_t Rank::groups_received() const {
  size_t groups = 0;
  for (const auto& receive : receives_) {
    groups += receive->groups_received();
  }
  return groups;
}

Meter Rank::sender_meter() const {
  Meter total;
  for (const auto& send : sends_) {
    total += send->meter();
  }
  return total;
}

Meter Rank::receiver_meter() const {
  Meter total;
  for (const auto& receive : receives_) {
    total += receive->meter();
  }
  return total;
}

void Rank::inspect_what_is_left() const {
  for (const auto& receive : receives_) {
    receive->inspect_what_is_left();
  }
}

std::vector<std::string> Rank::waits(size_t group_limit) const {
  std::vector<std::string> all;
  const auto add = [&](const auto& ends) {
    for (const auto& end : ends) {
      if (const std::optional<std::string> wait = end->waits_for(group_limit)) {
        all.push_back(fmt::format("rank {} waits for {}", place_.rank, *wait));
      }
    }
  };
  add(receives_);
  add(sends_);
  return all;
}

}  // namespace rocelane::nccl_host
