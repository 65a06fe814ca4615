#include "nccl_host/receive_end.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "nccl_host/pattern.h"

namespace rocelane::nccl_host {
namespace {

bool is_hint(const void* request) {
  return reinterpret_cast<uintptr_t>(request) == kNcclNetOptionalReceiveCompletion;
}

}  // namespace

ReceiveEnd::ReceiveEnd(const ConnectionPlan& plan, const EndSettings& settings)
    : plan_(&plan),
      settings_(settings),
      patience_(settings.patience_ns),
      buffers_(plan, settings.window),
      receives_(static_cast<size_t>(settings.window)),
      rank_(plan.route.to) {}

void ReceiveEnd::follow(const ConnectionPlan& plan) {
  plan_ = &plan;
  posted_ = 0;
  received_ = 0;
  flushed_ = 0;
  checked_.store(0, std::memory_order_release);
  patience_.restart();
}

bool ReceiveEnd::gets_hint(const Net& net, const Group& group) const {
  return settings_.optional_completions && net.abi() > 8 && group.completion_is_optional();
}

void* ReceiveEnd::data_of(size_t group, const Message& message) {
  const size_t slot = slot_of(group, message.sub, settings_.window, plan_->subs);
  return buffers_.of(plan_->groups[group].protocol)
      .arena.message(slot, message.receive_shift, message.receive_bytes)
      .data();
}

Result<bool> ReceiveEnd::post(Net& net, Caller& caller, size_t group_limit) {
  const size_t checked = checked_.load(std::memory_order_relaxed);
  if (posted_ >= std::min(group_limit, plan_->groups.size()) ||
      posted_ - checked >= receives_.size()) {
    return false;
  }
  const Group& group = plan_->groups[posted_];
  Buffer& buffer = buffers_.of(group.protocol);
  inspect_buffers(posted_);
  const size_t count = group.messages.size();
  std::array<void*, kNcclNetMaxRequests> data{};
  std::array<size_t, kNcclNetMaxRequests> sizes{};
  std::array<int, kNcclNetMaxRequests> tags{};
  std::array<void*, kNcclNetMaxRequests> parents{};
  std::array<void*, kNcclNetMaxRequests> registrations{};
  int profiler_parent = 0;
  for (size_t i = 0; i < count; ++i) {
    const Message& message = group.messages[i];
    data[i] = data_of(posted_, message);
    sizes[i] = message.receive_bytes;
    tags[i] = message.tag;
    parents[i] = &profiler_parent;
    registrations[i] = buffer.registration;
  }
  const bool without_parents = settings_.vary_arguments && posted_ % 2 == 1;
  const bool hint = gets_hint(net, group);
  void* request = hint ? reinterpret_cast<void*>(kNcclNetOptionalReceiveCompletion) : kStaleRequest;
  ++meter_.starts;
  const NcclResult result = caller.measured(meter_, "irecv", [&] {
    return net.irecv(connection_, static_cast<int>(count), data.data(), sizes.data(), tags.data(),
                     registrations.data(), without_parents ? nullptr : parents.data(), &request);
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (request == kStaleRequest || is_hint(request)) {
    return broken_promise(caller, *plan_, "left *request as it was");
  }
  if (settings_.trace != nullptr) {
    settings_.trace->add(plan_->number, 'r', posted_, request != nullptr ? 1 : 0);
  }
  if (request == nullptr) {
    ++meter_.refusals;
    return false;
  }
  Receive& posted = receive(posted_);
  posted.request = request;
  posted.flush = nullptr;
  posted.sizes.fill(0);
  posted.written_bytes.assign(count, 0);
  ++posted_;
  return true;
}

void ReceiveEnd::inspect_buffers(size_t number) const {
  if (!settings_.check_bytes) {
    return;
  }
  const Group& group = plan_->groups[number];
  const Arena& arena = buffers_.of(group.protocol).arena;
  for (const Message& message : group.messages) {
    const size_t slot = slot_of(number, message.sub, settings_.window, plan_->subs);
    settings_.findings->add(inspect_unused_slot(*plan_, message, arena, slot));
  }
}

Result<bool> ReceiveEnd::test_oldest(Net& net, Caller& caller) {
  if (received_ == posted_) {
    return false;
  }
  Receive& oldest = receive(received_);
  oldest.has_sizes = !(settings_.vary_arguments && received_ % 5 == 4);
  int done = kNotAssigned;
  ++meter_.tests;
  const NcclResult result = caller.measured(meter_, "test of a receive", [&] {
    return net.test(oldest.request, &done, oldest.has_sizes ? oldest.sizes.data() : nullptr);
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (done == kNotAssigned) {
    return broken_promise(caller, *plan_, "left *done as it was");
  }
  if (settings_.trace != nullptr) {
    settings_.trace->add(plan_->number, 'R', received_, done != 0 ? 1 : 0);
  }
  if (done == 0) {
    ++meter_.empty_tests;
    return false;
  }
  if (!gets_hint(net, plan_->groups[received_])) {
    check_sizes(received_);
  }
  ++received_;
  if (settings_.flush) {
    return start_flush(net, caller);
  }
  ++flushed_;
  return true;
}

// The group received last. NCCL flushes after the Simple protocol only, and only when there was
// something.
Result<bool> ReceiveEnd::start_flush(Net& net, Caller& caller) {
  const size_t number = received_ - 1;
  const Group& group = plan_->groups[number];
  Receive& received = receive(number);
  std::vector<void*> data;
  std::vector<int> sizes;
  for (size_t i = 0; i < group.messages.size(); ++i) {
    data.push_back(data_of(number, group.messages[i]));
    sizes.push_back(received.has_sizes ? received.sizes[i]
                                       : static_cast<int>(group.messages[i].arriving_bytes()));
  }
  if (group.protocol != Protocol::kSimple || std::accumulate(sizes.begin(), sizes.end(), 0) == 0) {
    return true;
  }
  std::vector<void*> registrations(data.size(), buffers_.of(group.protocol).registration);
  ++meter_.flushes;
  // NCCL clears the slot before: a plugin may leave it so.
  const NcclResult result = caller.measured(meter_, "iflush", [&] {
    return net.iflush(connection_, static_cast<int>(data.size()), data.data(), sizes.data(),
                      registrations.data(), &received.flush);
  });
  return result == kNcclSuccess ? Result<bool>(true)
                                : Result<bool>(call_failed(caller, *plan_, result));
}

Result<bool> ReceiveEnd::test_flush(Net& net, Caller& caller) {
  if (flushed_ == received_) {
    return false;
  }
  void* const request = receive(flushed_).flush;
  int done = request == nullptr ? 1 : kNotAssigned;
  if (request != nullptr) {
    ++meter_.tests;
    const NcclResult result = caller.measured(meter_, "test of a flush",
                                              [&] { return net.test(request, &done, nullptr); });
    if (result != kNcclSuccess) {
      return call_failed(caller, *plan_, result);
    }
    if (done == kNotAssigned) {
      return broken_promise(caller, *plan_, "left *done as it was");
    }
  }
  if (done == 0) {
    ++meter_.empty_tests;
    return false;
  }
  ++flushed_;
  return true;
}

// What the receiving kernel does when it needs no completion: it looks until all data is there.
bool ReceiveEnd::data_is_complete(size_t number) {
  const Group& group = plan_->groups[number];
  Receive& received = receive(number);
  for (size_t i = 0; i < group.messages.size(); ++i) {
    const Message& message = group.messages[i];
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(data_of(number, message)),
                                           message.arriving_bytes());
    const auto missing = first_missing_byte(bytes, message.number, received.written_bytes[i]);
    if (missing) {
      received.written_bytes[i] = *missing;
      return false;
    }
  }
  return true;
}

void ReceiveEnd::check_sizes(size_t number) {
  const Receive& received = receive(number);
  const Group& group = plan_->groups[number];
  for (size_t i = 0; received.has_sizes && i < group.messages.size(); ++i) {
    const Message& message = group.messages[i];
    if (received.sizes[i] != static_cast<int>(message.arriving_bytes())) {
      settings_.findings->add(
          {0, fmt::format("test says that {} on {} brought {} bytes, not {}.", text_of(message),
                          text_of(*plan_), received.sizes[i], message.arriving_bytes())});
    }
  }
}

void ReceiveEnd::check_bytes(size_t number) {
  const Group& group = plan_->groups[number];
  const Arena& arena = buffers_.of(group.protocol).arena;
  for (const Message& message : group.messages) {
    ++meter_.messages;
    meter_.bytes += message.arriving_bytes();
    if (!settings_.check_bytes) {
      continue;
    }
    const size_t slot = slot_of(number, message.sub, settings_.window, plan_->subs);
    settings_.findings->add(inspect_message(*plan_, message, arena, slot));
    // Ready to notice whatever comes too late.
    std::ranges::fill(arena.guarded(slot, message.receive_shift, message.room_bytes()), kUntouched);
  }
}

Result<bool> ReceiveEnd::check_oldest(Net& net, Caller& caller) {
  const size_t number = checked_.load(std::memory_order_relaxed);
  if (number == flushed_) {
    return false;
  }
  const Group& group = plan_->groups[number];
  if (gets_hint(net, group) && !data_is_complete(number)) {
    return false;
  }
  check_bytes(number);
  const NcclResult result = caller.call("irecvConsumed", [&] {
    return net.irecv_consumed(connection_, static_cast<int>(group.messages.size()),
                              receive(number).request);
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  checked_.store(number + 1, std::memory_order_release);
  return true;
}

Result<bool> ReceiveEnd::progress(Net& net, Caller& caller, size_t group_limit, uint64_t now_ns) {
  bool moved = false;
  for (const auto step :
       {&ReceiveEnd::test_oldest, &ReceiveEnd::test_flush, &ReceiveEnd::check_oldest}) {
    const Result<bool> result = (this->*step)(net, caller);
    if (!result) {
      return result.error();
    }
    moved = moved || *result;
  }
  const Result<bool> posted = post(net, caller, group_limit);
  if (!posted) {
    return posted.error();
  }
  moved = moved || *posted;
  if (moved || is_finished(group_limit)) {
    patience_.moved(now_ns);
  } else if (patience_.is_over(now_ns)) {
    return wait_is_over(rank_, patience_.limit_s(), waits_for(group_limit).value_or("nothing"));
  }
  return moved;
}

std::optional<std::string> ReceiveEnd::waits_for(size_t group_limit) const {
  if (is_finished(group_limit)) {
    return std::nullopt;
  }
  const size_t checked = groups_received();
  const char* state = "irecv refuses its buffer";
  if (checked < flushed_) {
    state = "test says that it is done, and its data is not there";
  } else if (flushed_ < received_) {
    state = "test says that its flush is not done";
  } else if (received_ < posted_) {
    state = "irecv took its buffer, and test says that it is not done";
  }
  const Group& group = plan_->groups[checked];
  const size_t more = group.messages.size() - 1;
  return wait_text(
      text_of(group.messages.front()) + (more > 0 ? fmt::format(" and {} more", more) : ""), *plan_,
      fmt::format("{}; {} of {} receives are complete", state, checked, plan_->groups.size()));
}

bool ReceiveEnd::is_finished(size_t group_limit) const {
  return groups_received() >= std::min(group_limit, plan_->groups.size());
}

void ReceiveEnd::inspect_what_is_left() const {
  for (const auto& [protocol, buffer] : buffers_.all()) {
    settings_.findings->add(inspect_unused_arena(*plan_, protocol, buffer.arena));
  }
}

}  // namespace rocelane::nccl_host
