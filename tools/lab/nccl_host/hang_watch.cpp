#include "nccl_host/hang_watch.h"

#include <algorithm>

#include <fmt/format.h>

namespace rocelane::nccl_host {

HangWatch::HangWatch(std::vector<const Caller*> callers, std::chrono::milliseconds limit,
                     OnHang on_hang)
    : limit_(limit), on_hang_(std::move(on_hang)) {
  for (const Caller* caller : callers) {
    watched_.push_back({caller, 0, {}});
  }
  thread_ = std::thread([this] { run(); });
}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool HangWatch::hangs(Watched& watched, std::chrono::steady_clock::time_point now) const {
  const uint64_t sequence = watched.caller->sequence();
  if (sequence != watched.sequence) {
    watched.sequence = sequence;
    watched.since = now;
  }
  return sequence % 2 == 1 && now - watched.since >= limit_;
}

void HangWatch::run() {
  const auto period =
      std::clamp(limit_ / 8, std::chrono::milliseconds(1), std::chrono::milliseconds(200));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period, [this] { return leaving_; })) {
    const auto now = std::chrono::steady_clock::now();
    for (Watched& watched : watched_) {
      if (hangs(watched, now)) {
        const std::string sentence = fmt::format(
            "{} called {} and it has not returned for {} s: the plugin blocks where NCCL expects "
            "an answer at once.",
            watched.caller->who(), watched.caller->last_call(),
            std::chrono::duration<double>(limit_).count());
        lock.unlock();
        on_hang_(sentence);
        return;
      }
    }
  }
}

}  // namespace rocelane::nccl_host
