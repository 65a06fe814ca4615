#include "nccl_host/send_end.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nccl_host/pattern.h"

namespace rocelane::nccl_host {

SendEnd::SendEnd(const ConnectionPlan& plan, const EndSettings& settings)
    : plan_(&plan),
      settings_(settings),
      patience_(settings.patience_ns),
      buffers_(plan, settings.window),
      rank_(plan.route.from) {
  deal_out_messages();
}

void SendEnd::deal_out_messages() {
  subs_.assign(static_cast<size_t>(plan_->subs), Sub());
  messages_before_.clear();
  size_t messages = 0;
  for (size_t group = 0; group < plan_->groups.size(); ++group) {
    messages_before_.push_back(messages);
    for (const Message& message : plan_->groups[group].messages) {
      subs_[static_cast<size_t>(message.sub)].items.push_back({group, &message});
    }
    messages += plan_->groups[group].messages.size();
  }
  messages_before_.push_back(messages);
  for (Sub& sub : subs_) {
    sub.requests.resize(static_cast<size_t>(settings_.window), nullptr);
  }
}

void SendEnd::follow(const ConnectionPlan& plan) {
  plan_ = &plan;
  deal_out_messages();
  sent_.store(0, std::memory_order_release);
  patience_.restart();
}

Result<bool> SendEnd::set_up(Net& net, Caller& caller, const RankPlace& place,
                             const Handles& handles, uint64_t now_ns) {
  const SetUp before = set_up_;
  switch (set_up_) {
    case SetUp::kAwaitingHandle:
      if (const Handles::Bytes* bytes = handles.look(plan_->number)) {
        handle_ = *bytes;
        set_up_ = SetUp::kConnecting;
      }
      break;
    case SetUp::kConnecting: {
      const Result<bool> connected = connect(net, caller, place);
      if (!connected) {
        return connected.error();
      }
      set_up_ = *connected ? SetUp::kRegistering : SetUp::kConnecting;
      break;
    }
    case SetUp::kRegistering: {
      const Result<bool> registered =
          buffers_.register_next(net, caller, connection_, place, *plan_, settings_.memory);
      if (!registered) {
        return registered.error();
      }
      if (*registered) {
        patience_.moved(now_ns);
        return true;
      }
      set_up_ = SetUp::kReady;
      patience_.restart();
      ready_.store(true, std::memory_order_release);
      return true;
    }
    case SetUp::kReady:
      return false;
  }
  if (set_up_ != before) {
    patience_.moved(now_ns);
    return true;
  }
  if (!patience_.is_over(now_ns)) {
    return false;
  }
  return wait_is_over(
      rank_, patience_.limit_s(),
      set_up_ == SetUp::kConnecting
          ? wait_text("connect", *plan_, "the plugin keeps saying that it is not connected yet")
          : wait_text("the handle", *plan_, "the receiver has not listened"));
}

Result<bool> SendEnd::connect(Net& net, Caller& caller, const RankPlace& place) {
  NcclNetDeviceHandle* offload = nullptr;
  const NcclResult result = caller.call("connect", [&] {
    return net.connect(place.context, place.traffic_class, place.device, handle_.data(),
                       &connection_, &offload);
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  return connection_ != nullptr;
}

bool SendEnd::may_start(const Sub& sub, size_t group_limit) const {
  if (sub.started == sub.items.size() || sub.items[sub.started].group >= group_limit) {
    return false;
  }
  const auto window = static_cast<size_t>(settings_.window);
  return sub.started == sub.done ||
         (sub.started - sub.done < window &&
          sub.items[sub.started].group < sub.items[sub.done].group + window);
}

std::span<std::byte> SendEnd::bytes_of(const Sub::Item& item) {
  const size_t slot = slot_of(item.group, item.message->sub, settings_.window, plan_->subs);
  return buffers_.of(group_of(item).protocol)
      .arena.message(slot, item.message->send_shift, item.message->send_bytes);
}

void SendEnd::prepare(Sub& sub) {
  const Sub::Item& item = sub.items[sub.started];
  fill_pattern(bytes_of(item), item.message->number);
  sub.is_prepared = true;
}

Result<bool> SendEnd::start(Net& net, Caller& caller, Sub& sub) {
  if (settings_.check_bytes && !sub.is_prepared) {
    prepare(sub);
  }
  const Sub::Item& item = sub.items[sub.started];
  const std::span<std::byte> bytes = bytes_of(item);
  void* const registration = buffers_.of(group_of(item).protocol).registration;
  int profiler_parent = 0;
  void* const parent =
      settings_.vary_arguments && item.message->index % 2 == 1 ? nullptr : &profiler_parent;
  void* request = kStaleRequest;
  ++meter_.starts;
  const NcclResult result = caller.measured(meter_, "isend", [&] {
    return net.isend(connection_, bytes.data(), bytes.size(), item.message->tag, registration,
                     parent, &request);
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (request == kStaleRequest) {
    return broken_promise(caller, *plan_, "left *request as it was");
  }
  if (settings_.trace != nullptr) {
    settings_.trace->add(plan_->number, 's', item.message->number, request != nullptr ? 1 : 0);
  }
  if (request == nullptr) {
    ++meter_.refusals;
    return false;
  }
  sub.requests[sub.started % sub.requests.size()] = request;
  ++sub.started;
  sub.is_prepared = false;
  return true;
}

Result<bool> SendEnd::test_oldest(Net& net, Caller& caller, Sub& sub) {
  const Sub::Item& item = sub.items[sub.done];
  void* const request = sub.requests[sub.done % sub.requests.size()];
  std::array<int, kSizesPassed> sizes{};
  const bool without_sizes = settings_.vary_arguments && item.message->index % 3 == 2;
  int done = kNotAssigned;
  ++meter_.tests;
  const NcclResult result = caller.measured(meter_, "test of a send", [&] {
    return net.test(request, &done, without_sizes ? nullptr : sizes.data());
  });
  if (result != kNcclSuccess) {
    return call_failed(caller, *plan_, result);
  }
  if (done == kNotAssigned) {
    return broken_promise(caller, *plan_, "left *done as it was");
  }
  if (settings_.trace != nullptr) {
    settings_.trace->add(plan_->number, 't', item.message->number, done != 0 ? 1 : 0);
  }
  if (done == 0) {
    ++meter_.empty_tests;
    return false;
  }
  finish_oldest(sub);
  return true;
}

// From now on the memory is the application's again, and it will write there.
void SendEnd::finish_oldest(Sub& sub) {
  const Sub::Item& item = sub.items[sub.done];
  if (settings_.check_bytes) {
    std::ranges::fill(bytes_of(item), kScribbled);
  }
  ++meter_.messages;
  meter_.bytes += item.message->arriving_bytes();
  ++sub.done;
  sent_.fetch_add(1, std::memory_order_release);
}

Result<bool> SendEnd::progress(Net& net, Caller& caller, size_t group_limit, uint64_t now_ns) {
  bool moved = false;
  for (Sub& sub : subs_) {
    if (may_start(sub, group_limit)) {
      const Result<bool> started = start(net, caller, sub);
      if (!started) {
        return started.error();
      }
      moved = moved || *started;
    }
    if (sub.done < sub.started) {
      const Result<bool> done = test_oldest(net, caller, sub);
      if (!done) {
        return done.error();
      }
      moved = moved || *done;
    }
  }
  if (moved || is_finished(group_limit)) {
    patience_.moved(now_ns);
  } else if (patience_.is_over(now_ns)) {
    return wait_is_over(rank_, patience_.limit_s(), waits_for(group_limit).value_or("nothing"));
  }
  return moved;
}

std::optional<std::string> SendEnd::waits_for(size_t group_limit) const {
  const auto is_waiting = [&](const Sub& sub) {
    return sub.done < sub.items.size() && sub.items[sub.done].group < group_limit;
  };
  const auto sub = std::ranges::find_if(subs_, is_waiting);
  if (sub == subs_.end()) {
    return std::nullopt;
  }
  const char* const state = sub->done < sub->started
                                ? "isend took it, and test says that it is not done"
                                : "isend refuses it, as if the receiver had not asked for it";
  return wait_text(
      fmt::format("{} to be sent", text_of(*sub->items[sub->done].message)), *plan_,
      fmt::format("{}; {} of {} messages are sent", state, messages_sent(), plan_->messages()));
}

bool SendEnd::is_finished(size_t group_limit) const {
  return messages_sent() >= messages_before_[std::min(group_limit, plan_->groups.size())];
}

Status SendEnd::close(Net& net, Caller& caller) {
  if (connection_ == nullptr) {
    return {};
  }
  if (const Status given_back = buffers_.deregister_all(net, caller, connection_, *plan_);
      !given_back) {
    return given_back;
  }
  const NcclResult result = caller.call("closeSend", [&] { return net.close_send(connection_); });
  connection_ = nullptr;
  return result == kNcclSuccess ? Status() : Status(call_failed(caller, *plan_, result));
}

}  // namespace rocelane::nccl_host
