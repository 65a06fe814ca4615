#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace rocelane::collperf {

// Ends the process with a sentence when a call into NCCL that cannot be interrupted, such as
// creating a communicator, does not come back in time.
class Watchdog {
 public:
  // Called on the watchdog's thread; does not return in a real program.
  using OnExpiry = std::function<void(const std::string& sentence)>;

  // Zero patience watches nothing.
  Watchdog(std::chrono::milliseconds patience, OnExpiry on_expiry);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // While it lives, the clock runs.
  class Watch {
   public:
    Watch(Watchdog& watchdog, std::string doing) : watchdog_(watchdog) {
      watchdog_.start(std::move(doing));
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { watchdog_.stop(); }

   private:
    Watchdog& watchdog_;
  };

  std::chrono::milliseconds patience() const { return patience_; }

 private:
  void start(std::string doing);
  void stop();
  void run();

  std::chrono::milliseconds patience_;
  OnExpiry on_expiry_;
  std::mutex mutex_;  // guards what follows: the watched thread and thread_ use it
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> expires_at_;
  std::string doing_;
  bool leaving_ = false;
  std::thread thread_;
};

// Prints the sentence and ends the process at once: threads of NCCL may hang in the same place.
[[noreturn]] void leave_now(const std::string& sentence);

}  // namespace rocelane::collperf
