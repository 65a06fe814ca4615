#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace rocelane::lab {

// How many tasks of a stream are done. Outlives the stream, so that others may wait for it.
class Progress {
 public:
  void complete_one();
  bool reached(uint64_t count) const;
  void wait_for(uint64_t count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t completed_ = 0;
};

// A place in a stream: everything submitted up to it.
struct Ticket {
  std::shared_ptr<const Progress> progress;
  uint64_t count = 0;

  bool done() const { return progress->reached(count); }
  void wait() const { progress->wait_for(count); }
};

enum class StreamOrder : uint8_t {
  kWithLegacy,  // waits for the device's legacy stream and is waited for by it
  kFree,        // cudaStreamNonBlocking
  kLegacy,      // the legacy default stream itself
};

// A queue of tasks and the thread that does them one after the other.
class Stream {
 public:
  using Task = std::function<void()>;

  Stream(int device, StreamOrder order, int priority)
      : device_(device), order_(order), priority_(priority) {}
  ~Stream();  // does what is queued, then joins the thread
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  StreamOrder order() const { return order_; }
  int priority() const { return priority_; }

  Ticket submit(Task task);
  Ticket last_submitted() const;
  bool idle() const { return last_submitted().done(); }

 private:
  void work();

  const int device_;
  const StreamOrder order_;
  const int priority_;
  const std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<Task> queue_;
  uint64_t submitted_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // started by the first task
};

}  // namespace rocelane::lab
