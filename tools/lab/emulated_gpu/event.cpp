#include "event.h"

namespace rocelane::lab {

void Moment::reach(Time now) {
  {
    const std::lock_guard lock(mutex_);
    reached_at_ = now;
  }
  changed_.notify_all();
}

std::optional<Moment::Time> Moment::reached_at() const {
  const std::lock_guard lock(mutex_);
  return reached_at_;
}

void Moment::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_at_.has_value(); });
}

std::shared_ptr<Moment> Event::record() {
  auto moment = std::make_shared<Moment>();
  const std::lock_guard lock(mutex_);
  latest_ = moment;
  return moment;
}

std::shared_ptr<const Moment> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

cudaError_t elapsed_milliseconds(const Event& start, const Event& end, float& milliseconds) {
  const auto first = start.latest();
  const auto last = end.latest();
  if (!start.timed() || !end.timed() || first == nullptr || last == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const auto began = first->reached_at();
  const auto ended = last->reached_at();
  if (!began || !ended) {
    return cudaErrorNotReady;
  }
  milliseconds = std::chrono::duration<float, std::milli>(*ended - *began).count();
  return cudaSuccess;
}

}  // namespace rocelane::lab
