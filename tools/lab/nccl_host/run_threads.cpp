#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "nccl_host/run_loops.h"

namespace rocelane::nccl_host {
namespace {

using namespace std::chrono_literals;

uint64_t real_now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// The first error of any thread stops them all.
class FirstError {
 public:
  void set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = error;
    }
    stop_.store(true, std::memory_order_release);
  }
  bool is_set() const { return stop_.load(std::memory_order_acquire); }
  Status status() const {
    const std::lock_guard lock(mutex_);
    return error_ ? Status(*error_) : Status();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> stop_ = false;
};

// Until `is_over`. Idle threads get out of each other's way: there are more of them than
// processors.
void repeat(FirstError& failure, const std::function<Result<bool>()>& step,
            const std::function<bool()>& is_over, std::chrono::nanoseconds idle) {
  while (!failure.is_set() && !is_over()) {
    const Result<bool> moved = step();
    if (!moved) {
      failure.set(moved.error());
    } else if (!*moved && idle > 0ns) {
      std::this_thread::sleep_for(idle);
    } else if (!*moved) {
      std::this_thread::yield();
    }
  }
}

}  // namespace

Status run_with_threads(const RunParts& parts) {
  FirstError failure;
  std::vector<std::thread> threads;
  for (const auto& owned : parts.ranks) {
    Rank& rank = *owned;
    threads.emplace_back([&] {
      repeat(
          failure, [&] { return rank.service_step(parts.state, parts.handles, real_now_ns()); },
          [&] { return rank.is_closed(); }, 200us);
    });
    threads.emplace_back([&] {
      repeat(
          failure, [&] { return rank.progress_step(parts.state, real_now_ns()); },
          [&] { return rank.has_left(); }, 0ns);
    });
  }
  repeat(
      failure, [&] { return parts.conductor.step(real_now_ns()); },
      [&] { return parts.conductor.is_done(); }, 20us);
  for (std::thread& thread : threads) {
    thread.join();
  }
  return failure.status();
}

}  // namespace rocelane::nccl_host
