#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include <cuda_runtime_api.h>

namespace rocelane::lab {

// One recording of an event: the instant at which a stream comes by. Outlives its event.
class Moment {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void reach(Time now);
  std::optional<Time> reached_at() const;
  void wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Time> reached_at_;
};

class Event {
 public:
  Event(int device, bool timed) : device_(device), timed_(timed) {}

  int device() const { return device_; }
  bool timed() const { return timed_; }

  // Replaces the recording before; who waits for that one goes on waiting for it.
  std::shared_ptr<Moment> record();
  // nullptr: never recorded.
  std::shared_ptr<const Moment> latest() const;

 private:
  const int device_;
  const bool timed_;
  mutable std::mutex mutex_;
  std::shared_ptr<Moment> latest_;
};

// cudaEventElapsedTime: both must be timed, recorded and reached.
cudaError_t elapsed_milliseconds(const Event& start, const Event& end, float& milliseconds);

}  // namespace rocelane::lab
