#pragma once

#include <map>
#include <memory>
#include <mutex>

#include <cuda_runtime_api.h>

#include "event.h"
#include "stream.h"

namespace rocelane::lab {

// All events of the process, by handle. Thread-safe.
class Events {
 public:
  static Events& of_process();

  cudaEvent_t create(int device, bool timed);
  bool destroy(cudaEvent_t handle);
  std::shared_ptr<Event> find(cudaEvent_t handle);  // nullptr when there is no such event

 private:
  std::mutex mutex_;
  std::map<cudaEvent_t, std::shared_ptr<Event>> by_handle_;
};

// The event is reached when the stream has done all it was given so far.
void record(Event& event, Stream& stream);

}  // namespace rocelane::lab
