#include "api.h"
#include "devices.h"
#include "event.h"
#include "events.h"
#include "streams.h"

namespace rocelane::lab {
namespace {

cudaError_t create_event(cudaEvent_t* handle, unsigned flags) {
  constexpr unsigned kKnownFlags = cudaEventBlockingSync | cudaEventDisableTiming;
  if ((flags & cudaEventInterprocess) != 0) {
    return cudaErrorNotSupported;
  }
  if (handle == nullptr || (flags & ~kKnownFlags) != 0) {
    return cudaErrorInvalidValue;
  }
  *handle = Events::of_process().create(current_device(), (flags & cudaEventDisableTiming) == 0);
  return device_error(current_device());
}

}  // namespace
}  // namespace rocelane::lab

using namespace rocelane::lab;

ROCELANE_LAB_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return guarded([&] { return create_event(event, cudaEventDefault); });
}

ROCELANE_LAB_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return guarded([&] { return create_event(event, flags); });
}

ROCELANE_LAB_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return guarded([&] {
    return Events::of_process().destroy(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

ROCELANE_LAB_API cudaError_t cudaEventRecord(cudaEvent_t event_handle, cudaStream_t stream_handle) {
  return guarded([&] {
    const auto event = Events::of_process().find(event_handle);
    const auto stream = Streams::of_process().find(stream_handle, current_device());
    if (event == nullptr || stream == nullptr || event->device() != stream->device()) {
      return cudaErrorInvalidResourceHandle;
    }
    record(*event, *stream);
    return device_error(stream->device());
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle,
                                                 cudaEvent_t event_handle, unsigned /*flags*/) {
  return guarded([&] {
    const auto event = Events::of_process().find(event_handle);
    const auto stream = Streams::of_process().find(stream_handle, current_device());
    if (event == nullptr || stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const auto moment = event->latest(); moment != nullptr) {
      Streams::of_process().submit(*stream, [moment] { moment->wait(); });
    }
    return device_error(stream->device());
  });
}

ROCELANE_LAB_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return guarded([&] {
    const auto event = Events::of_process().find(handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t error = device_error(event->device()); error != cudaSuccess) {
      return error;
    }
    const auto moment = event->latest();
    return moment == nullptr || moment->reached_at() ? cudaSuccess : cudaErrorNotReady;
  });
}

ROCELANE_LAB_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return guarded([&] {
    const auto event = Events::of_process().find(handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const auto moment = event->latest(); moment != nullptr) {
      moment->wait();
    }
    return device_error(event->device());
  });
}

ROCELANE_LAB_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle,
                                                  cudaEvent_t end_handle) {
  return guarded([&] {
    const auto start = Events::of_process().find(start_handle);
    const auto end = Events::of_process().find(end_handle);
    if (start == nullptr || end == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    return elapsed_milliseconds(*start, *end, *milliseconds);
  });
}
