#include "api.h"
#include "devices.h"
#include "streams.h"

namespace rocelane::lab {
namespace {

std::shared_ptr<Stream> find_stream(cudaStream_t handle) {
  return Streams::of_process().find(handle, current_device());
}

cudaError_t create_stream(cudaStream_t* handle, unsigned flags, int priority) {
  if (handle == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
    return cudaErrorInvalidValue;
  }
  const StreamOrder order =
      (flags & cudaStreamNonBlocking) != 0 ? StreamOrder::kFree : StreamOrder::kWithLegacy;
  *handle = Streams::of_process().create(current_device(), order, priority);
  return device_error(current_device());
}

// Host functions are not called once the device has failed, as on real CUDA.
template <class Function>
cudaError_t call_in_order(cudaStream_t handle, Function function) {
  const auto stream = find_stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const int device = stream->device();
  Streams::of_process().submit(*stream, [device, function] {
    if (device_error(device) == cudaSuccess) {
      function();
    }
  });
  return device_error(device);
}

thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;

}  // namespace
}  // namespace rocelane::lab

using namespace rocelane::lab;

ROCELANE_LAB_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return guarded([&] { return create_stream(stream, cudaStreamDefault, 0); });
}

ROCELANE_LAB_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return guarded([&] { return create_stream(stream, flags, 0); });
}

ROCELANE_LAB_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                          int priority) {
  return guarded([&] { return create_stream(stream, flags, priority); });
}

ROCELANE_LAB_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return guarded([&] {
    return Streams::of_process().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return guarded([&] {
    const auto stream = find_stream(handle);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (stream->order() == StreamOrder::kLegacy) {
      // The legacy stream also stands for what the ordered streams were given before.
      Streams::of_process().submit(*stream, [] {}).wait();
    } else {
      stream->last_submitted().wait();
    }
    return device_error(stream->device());
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return guarded([&] {
    const auto stream = find_stream(handle);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t error = device_error(stream->device()); error != cudaSuccess) {
      return error;
    }
    return stream->idle() ? cudaSuccess : cudaErrorNotReady;
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return guarded([&] {
    const auto stream = find_stream(handle);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    *priority = stream->priority();
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return guarded([&] {
    const auto stream = find_stream(handle);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    *flags = stream->order() == StreamOrder::kFree ? cudaStreamNonBlocking : cudaStreamDefault;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return guarded([&] {
    const auto stream = find_stream(handle);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    *device = stream->device();
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                                void* argument) {
  return guarded(
      [&] { return call_in_order(stream, [function, argument] { function(argument); }); });
}

ROCELANE_LAB_API cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                   cudaStreamCallback_t function, void* argument,
                                                   unsigned /*flags*/) {
  return guarded(
      [&] { return call_in_order(stream, [=] { function(stream, cudaSuccess, argument); }); });
}

// Streams are never captured into graphs: cudaStreamBeginCapture is not emulated.
ROCELANE_LAB_API cudaError_t cudaStreamIsCapturing(cudaStream_t /*stream*/,
                                                   cudaStreamCaptureStatus* status) {
  return guarded([&] {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t /*stream*/,
                                                      cudaStreamCaptureStatus* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t** dependencies,
                                                      const cudaGraphEdgeData** edges,
                                                      size_t* dependency_count) {
  return guarded([&] {
    *status = cudaStreamCaptureStatusNone;
    const auto clear = [](auto* out) {
      if (out != nullptr) {
        *out = {};
      }
    };
    clear(id);
    clear(graph);
    clear(dependencies);
    clear(edges);
    clear(dependency_count);
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return guarded([&] {
    std::swap(*mode, capture_mode);
    return cudaSuccess;
  });
}
