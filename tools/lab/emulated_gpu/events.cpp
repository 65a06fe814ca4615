#include "events.h"

#include <utility>

#include "streams.h"

namespace rocelane::lab {

Events& Events::of_process() {
  static auto* const instance = new Events;
  return *instance;
}

cudaEvent_t Events::create(int device, bool timed) {
  auto event = std::make_shared<Event>(device, timed);
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  const std::lock_guard lock(mutex_);
  by_handle_.emplace(handle, std::move(event));
  return handle;
}

bool Events::destroy(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  return by_handle_.erase(handle) == 1;
}

std::shared_ptr<Event> Events::find(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = by_handle_.find(handle);
  return found == by_handle_.end() ? nullptr : found->second;
}

void record(Event& event, Stream& stream) {
  Streams::of_process().submit(
      stream, [moment = event.record()] { moment->reach(std::chrono::steady_clock::now()); });
}

}  // namespace rocelane::lab
