#include "collperf/watchdog.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace rocelane::collperf {

Watchdog::Watchdog(std::chrono::milliseconds patience, OnExpiry on_expiry)
    : patience_(patience), on_expiry_(std::move(on_expiry)) {
  if (patience_.count() > 0) {
    thread_ = std::thread([this] { run(); });
  }
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Watchdog::start(std::string doing) {
  {
    const std::lock_guard lock(mutex_);
    doing_ = std::move(doing);
    expires_at_ = std::chrono::steady_clock::now() + patience_;
  }
  changed_.notify_all();
}

void Watchdog::stop() {
  const std::lock_guard lock(mutex_);
  expires_at_.reset();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    if (!expires_at_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *expires_at_) {
      changed_.wait_until(lock, *expires_at_);
    } else {
      expires_at_.reset();
      const std::string sentence = fmt::format("{} took longer than {} s (--deadline).", doing_,
                                               std::chrono::duration<double>(patience_).count());
      lock.unlock();
      on_expiry_(sentence);
      lock.lock();
    }
  }
}

void leave_now(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace rocelane::collperf
