#include "net/plugin/steward.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/log.h"
#include "verbs/errors.h"

namespace rocelane::net {
namespace {

bool concerns_a_port(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      return true;
    default:
      return false;
  }
}

bool concerns_a_queue_pair(ibv_event_type type) {
  return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
         type == IBV_EVENT_QP_ACCESS_ERR;
}

// What a person must know. The rest is for INFO.
bool is_alarming(ibv_event_type type) {
  return type == IBV_EVENT_PORT_ERR || type == IBV_EVENT_DEVICE_FATAL ||
         type == IBV_EVENT_GID_CHANGE || type == IBV_EVENT_CQ_ERR || concerns_a_queue_pair(type);
}

std::string describe_event(const std::string& device, const ibv_async_event& event) {
  std::string where = device;
  if (concerns_a_port(event.event_type)) {
    where += fmt::format(":{}", event.element.port_num);
  } else if (concerns_a_queue_pair(event.event_type)) {
    where += fmt::format(" QP 0x{:x}", event.element.qp->qp_num);
  }
  return fmt::format("{} reports: {}", where, ibv_event_type_str(event.event_type));
}

void read_events(const Device& device) {
  ibv_async_event event{};
  while (ibv_get_async_event(device.opened.context.get(), &event) == 0) {
    const std::string text = describe_event(device.opened.name, event);
    const bool alarming = is_alarming(event.event_type);
    ibv_ack_async_event(&event);  // destroying a queue pair waits for this
    if (alarming) {
      log_warn("{}", text);
    } else {
      log_info("{}", text);
    }
  }
}

}  // namespace

Result<std::shared_ptr<Steward>> Steward::start(std::vector<std::shared_ptr<Device>> devices,
                                                std::function<void()> every_second) {
  for (const auto& device : devices) {
    const int descriptor = device->opened.context->async_fd;
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) {
      return verbs::call_failed("fcntl of the event channel", device->opened.name, errno);
    }
  }
  FileDescriptor wake_up(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_up.is_open()) {
    return Error{ErrorCode::kSystem,
                 fmt::format("no event descriptor: {}", verbs::errno_text(errno))};
  }
  std::shared_ptr<Steward> steward(
      new Steward(std::move(devices), std::move(every_second), std::move(wake_up)));
  // The thread must never take a signal that the training process wants to handle.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status started;
  try {
    steward->thread_ = std::thread([raw = steward.get()] { raw->loop(); });
    pthread_setname_np(steward->thread_.native_handle(), "rocelane");
  } catch (const std::system_error& error) {
    started = Error{ErrorCode::kSystem, fmt::format("no thread can be started: {}", error.what())};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    return std::move(started).error();
  }
  return steward;
}

Steward::~Steward() {
  stopping_.store(true);
  wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Steward::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake();
}

void Steward::wake() {
  // Fails only when the counter is full, and then the loop is awake anyway.
  [[maybe_unused]] const int ignored = eventfd_write(wake_up_.get(), 1);
}

void Steward::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (auto& task : tasks) {
    if (stopping_.load()) {
      return;
    }
    try {
      task();
    } catch (const std::exception& error) {
      log_warn("a task of ours failed: {}; what waited for it ends by its deadline", error.what());
    }
  }
}

void Steward::loop() {
  std::vector<pollfd> waiting{{wake_up_.get(), POLLIN, 0}};
  for (const auto& device : devices_) {
    waiting.push_back({device->opened.context->async_fd, POLLIN, 0});
  }
  constexpr std::chrono::seconds kSecond{1};
  TimePoint next_second = Clock::now();
  while (!stopping_.load()) {
    const TimePoint now = Clock::now();
    if (now >= next_second) {
      next_second = now + kSecond;
      every_second_();
    }
    constexpr int kPatienceMs = 1000;
    if (poll(waiting.data(), waiting.size(), kPatienceMs) <= 0) {
      continue;
    }
    eventfd_t ignored = 0;
    eventfd_read(wake_up_.get(), &ignored);
    run_tasks();
    for (size_t i = 0; i < devices_.size(); ++i) {
      if ((waiting[i + 1].revents & POLLIN) != 0) {
        read_events(*devices_[i]);
      } else if (waiting[i + 1].revents != 0) {
        waiting[i + 1].fd = -1;  // the device is gone; poll would return for ever
      }
    }
  }
}

}  // namespace rocelane::net
