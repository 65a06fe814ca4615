#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "allocations.h"
#include "api.h"
#include "devices.h"
#include "report.h"
#include "streams.h"

namespace rocelane::lab {
namespace {

Allocations& allocations() { return Allocations::of_process(); }

cudaError_t allocate(MemoryKind kind, void** start, size_t bytes) {
  if (start == nullptr) {
    return cudaErrorInvalidValue;
  }
  *start = nullptr;
  if (const cudaError_t error = device_error(current_device()); error != cudaSuccess) {
    return error;
  }
  if (bytes == 0) {
    return cudaSuccess;
  }
  *start = allocations().allocate(kind, current_device(), bytes);
  return *start == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t release_now(MemoryKind kind, const void* start, const char* function) {
  switch (allocations().release(kind, start)) {
    case ReleaseResult::kReleased:
      return cudaSuccess;
    case ReleaseResult::kAlreadyFreed:
      report(fmt::format("{} was called twice for {}", function, fmt::ptr(start)));
      return cudaErrorInvalidValue;
    case ReleaseResult::kNotAnAllocation:
      report(fmt::format("{} was called for {}, which is not the start of such an allocation",
                         function, fmt::ptr(start)));
      return cudaErrorInvalidValue;
  }
  return cudaErrorUnknown;
}

// As on real CUDA, giving memory back waits for what the device still does.
cudaError_t release_when_idle(MemoryKind kind, const void* start, const char* function) {
  if (start == nullptr) {
    return cudaSuccess;
  }
  if (const auto owned = allocations().find(start)) {
    Streams::of_process().synchronize(owned->device);
  }
  return release_now(kind, start, function);
}

// kPageable and kKnown ranges may be used; the others are mistakes of the program.
bool is_usable(const void* start, size_t bytes, RangeState state, const char* function) {
  if (state == RangeState::kFreed) {
    report(fmt::format("{} uses {}, which was freed", function, fmt::ptr(start)));
  } else if (state == RangeState::kOverrun) {
    report(fmt::format("{} uses {} bytes at {}, which is more than was allocated there", function,
                       bytes, fmt::ptr(start)));
  } else {
    return true;
  }
  return false;
}

struct Copy {
  void* to;
  const void* from;
  size_t bytes;
  RangeState to_state;
  RangeState from_state;
};

Copy describe_copy(void* to, const void* from, size_t bytes) {
  return {to, from, bytes, allocations().state_of(to, bytes), allocations().state_of(from, bytes)};
}

// With unified addressing the kind says nothing new, but it must not contradict the addresses.
bool kind_fits(const Copy& copy, cudaMemcpyKind kind) {
  const bool to_known = copy.to_state == RangeState::kKnown;
  const bool from_known = copy.from_state == RangeState::kKnown;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return to_known;
    case cudaMemcpyDeviceToHost:
      return from_known;
    case cudaMemcpyDeviceToDevice:
      return to_known && from_known;
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

cudaError_t judge_copy(const Copy& copy, cudaMemcpyKind kind, const char* function) {
  if (!is_usable(copy.to, copy.bytes, copy.to_state, function) ||
      !is_usable(copy.from, copy.bytes, copy.from_state, function)) {
    return cudaErrorInvalidValue;
  }
  if (!kind_fits(copy, kind)) {
    report(fmt::format("{} from {} to {}: the direction it was given does not fit the addresses",
                       function, fmt::ptr(copy.from), fmt::ptr(copy.to)));
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

// Whether the call returns before the bytes have moved.
enum class CopyReturns : uint8_t { kAtOnce, kWhenDone };

// A call that returns at once has read pageable memory by then: the caller may reuse it.
Stream::Task copy_task(const Copy& copy, CopyReturns returns) {
  if (returns == CopyReturns::kAtOnce && copy.from_state == RangeState::kPageable) {
    const auto* first = static_cast<const std::byte*>(copy.from);
    auto staged = std::make_shared<std::vector<std::byte>>(first, first + copy.bytes);
    return [copy, staged] { std::memcpy(copy.to, staged->data(), copy.bytes); };
  }
  return [copy] { std::memmove(copy.to, copy.from, copy.bytes); };
}

cudaError_t copy_on(cudaStream_t handle, const Copy& copy, cudaMemcpyKind kind, CopyReturns returns,
                    const char* function) {
  const auto stream = Streams::of_process().find(handle, current_device());
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (copy.bytes == 0) {
    return cudaSuccess;
  }
  if (const cudaError_t error = judge_copy(copy, kind, function); error != cudaSuccess) {
    return error;
  }
  if (copy.to_state == RangeState::kPageable) {
    returns = CopyReturns::kWhenDone;
  }
  const Ticket done = Streams::of_process().submit(*stream, copy_task(copy, returns));
  if (returns == CopyReturns::kWhenDone) {
    done.wait();
  }
  return device_error(stream->device());
}

cudaError_t set_on(cudaStream_t handle, void* start, int value, size_t bytes,
                   const char* function) {
  const auto stream = Streams::of_process().find(handle, current_device());
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (bytes == 0) {
    return cudaSuccess;
  }
  const RangeState state = allocations().state_of(start, bytes);
  if (!is_usable(start, bytes, state, function)) {
    return cudaErrorInvalidValue;
  }
  if (state == RangeState::kPageable) {
    report(fmt::format("{} uses {}, which is neither device nor pinned memory", function,
                       fmt::ptr(start)));
    return cudaErrorInvalidValue;
  }
  Streams::of_process().submit(*stream, [=] { std::memset(start, value, bytes); });
  return device_error(stream->device());
}

}  // namespace
}  // namespace rocelane::lab

using namespace rocelane::lab;

ROCELANE_LAB_API cudaError_t cudaMalloc(void** start, size_t bytes) {
  return guarded([&] { return allocate(MemoryKind::kDevice, start, bytes); });
}

ROCELANE_LAB_API cudaError_t cudaFree(void* start) {
  return guarded([&] { return release_when_idle(MemoryKind::kDevice, start, "cudaFree"); });
}

ROCELANE_LAB_API cudaError_t cudaMallocAsync(void** start, size_t bytes, cudaStream_t /*stream*/) {
  return guarded([&] { return allocate(MemoryKind::kDevice, start, bytes); });
}

ROCELANE_LAB_API cudaError_t cudaMallocFromPoolAsync(void** start, size_t bytes,
                                                     cudaMemPool_t /*pool*/,
                                                     cudaStream_t /*stream*/) {
  return guarded([&] { return allocate(MemoryKind::kDevice, start, bytes); });
}

ROCELANE_LAB_API cudaError_t cudaFreeAsync(void* start, cudaStream_t handle) {
  return guarded([&] {
    const auto stream = Streams::of_process().find(handle, current_device());
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    Streams::of_process().submit(
        *stream, [start] { release_now(MemoryKind::kDevice, start, "cudaFreeAsync"); });
    return cudaSuccess;
  });
}

// A pool is a name only: all pools draw from the device's memory.
ROCELANE_LAB_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool,
                                               const cudaMemPoolProps* /*properties*/) {
  return guarded([&] {
    *pool = reinterpret_cast<cudaMemPool_t>(new char);
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return guarded([&] {
    delete reinterpret_cast<char*>(pool);
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t /*pool*/,
                                                     cudaMemPoolAttr /*attribute*/,
                                                     void* /*value*/) {
  return guarded([] { return cudaSuccess; });
}

ROCELANE_LAB_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return guarded([&] {
    *total_bytes = allocations().capacity_bytes();
    *free_bytes = *total_bytes - allocations().used_bytes(current_device());
    return device_error(current_device());
  });
}

ROCELANE_LAB_API cudaError_t cudaHostAlloc(void** start, size_t bytes, unsigned /*flags*/) {
  return guarded([&] { return allocate(MemoryKind::kPinnedHost, start, bytes); });
}

ROCELANE_LAB_API cudaError_t cudaMallocHost(void** start, size_t bytes) {
  return guarded([&] { return allocate(MemoryKind::kPinnedHost, start, bytes); });
}

ROCELANE_LAB_API cudaError_t cudaFreeHost(void* start) {
  return guarded([&] { return release_when_idle(MemoryKind::kPinnedHost, start, "cudaFreeHost"); });
}

ROCELANE_LAB_API cudaError_t cudaHostRegister(void* start, size_t bytes, unsigned /*flags*/) {
  return guarded([&] {
    if (start == nullptr || bytes == 0) {
      return cudaErrorInvalidValue;
    }
    return allocations().register_host(start, bytes, current_device())
               ? cudaSuccess
               : cudaErrorHostMemoryAlreadyRegistered;
  });
}

ROCELANE_LAB_API cudaError_t cudaHostUnregister(void* start) {
  return guarded([&] {
    return allocations().unregister_host(start) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

ROCELANE_LAB_API cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer,
                                                      unsigned /*flags*/) {
  return guarded([&] {
    const auto allocation = allocations().find(host_pointer);
    if (!allocation || allocation->kind == MemoryKind::kDevice) {
      return cudaErrorInvalidValue;
    }
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                      const void* pointer) {
  return guarded([&] {
    *attributes = cudaPointerAttributes{};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    auto* const address = const_cast<void*>(pointer);
    const auto allocation = allocations().find(pointer);
    if (!allocation) {
      attributes->hostPointer = address;
      return cudaSuccess;
    }
    attributes->device = allocation->device;
    attributes->devicePointer = address;
    if (allocation->kind == MemoryKind::kDevice) {
      attributes->type = cudaMemoryTypeDevice;
    } else {
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = address;
    }
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return guarded([&] {
    return copy_on(stream, describe_copy(to, from, bytes), kind, CopyReturns::kAtOnce,
                   "cudaMemcpyAsync");
  });
}

ROCELANE_LAB_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                                        cudaMemcpyKind kind) {
  return guarded([&] {
    return copy_on(cudaStreamLegacy, describe_copy(to, from, bytes), kind, CopyReturns::kWhenDone,
                   "cudaMemcpy");
  });
}

ROCELANE_LAB_API cudaError_t cudaMemsetAsync(void* start, int value, size_t bytes,
                                             cudaStream_t stream) {
  return guarded([&] { return set_on(stream, start, value, bytes, "cudaMemsetAsync"); });
}

ROCELANE_LAB_API cudaError_t cudaMemset(void* start, int value, size_t bytes) {
  return guarded([&] { return set_on(cudaStreamLegacy, start, value, bytes, "cudaMemset"); });
}

// No other process can map the emulated device's memory this way.
ROCELANE_LAB_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* /*handle*/, void* /*start*/) {
  return guarded([] { return cudaErrorNotSupported; });
}
