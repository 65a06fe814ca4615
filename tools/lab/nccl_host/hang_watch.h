#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nccl_host/caller.h"

namespace rocelane::nccl_host {

// Notices a call into the plugin that does not return: nobody else could.
class HangWatch {
 public:
  // Called once, on the watch's thread; does not return in a real program.
  using OnHang = std::function<void(const std::string& sentence)>;

  // The callers must outlive the watch.
  HangWatch(std::vector<const Caller*> callers, std::chrono::milliseconds limit, OnHang on_hang);
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;
  ~HangWatch();

 private:
  struct Watched {
    const Caller* caller = nullptr;
    uint64_t sequence = 0;
    std::chrono::steady_clock::time_point since;
  };
  void run();
  // True when the call in progress has been so for longer than the limit.
  bool hangs(Watched& watched, std::chrono::steady_clock::time_point now) const;

  std::chrono::milliseconds limit_;
  OnHang on_hang_;
  std::vector<Watched> watched_;  // thread_ only
  std::mutex mutex_;              // guards leaving_
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace rocelane::nccl_host
