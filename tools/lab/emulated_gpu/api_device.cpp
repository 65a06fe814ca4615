#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "allocations.h"
#include "api.h"
#include "devices.h"
#include "streams.h"

// What the emulated GPU says about itself: the numbers of an H100, because NCCL chooses by them.

namespace rocelane::lab {
namespace {

constexpr int kCudaVersion = 13000;
constexpr int kMultiprocessors = 132;
constexpr int kWarpThreads = 32;
constexpr int kBlockThreads = 1024;
constexpr int kClockKhz = 1'980'000;
constexpr int kSharedBytesPerBlock = 48 << 10;
constexpr int kSharedBytesPerBlockOptIn = 227 << 10;
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

int attribute_of(cudaDeviceAttr attribute, int device) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      return kComputeMajor;
    case cudaDevAttrComputeCapabilityMinor:
      return kComputeMinor;
    case cudaDevAttrMultiProcessorCount:
      return kMultiprocessors;
    case cudaDevAttrWarpSize:
      return kWarpThreads;
    case cudaDevAttrMaxThreadsPerBlock:
      return kBlockThreads;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedBytesPerBlock;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return kSharedBytesPerBlockOptIn;
    case cudaDevAttrClockRate:
      return kClockKhz;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrMemoryPoolsSupported:
    // Device memory is memory of the process: a NIC reaches it by its plain address.
    case cudaDevAttrGPUDirectRDMASupported:
      return 1;
    case cudaDevAttrPciBusId:
      return settings()->first_bus + device;
    default:
      return 0;
  }
}

}  // namespace
}  // namespace rocelane::lab

using namespace rocelane::lab;

ROCELANE_LAB_API cudaError_t cudaGetDeviceCount(int* count) {
  return guarded([&] {
    *count = settings()->gpu_count;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaSetDevice(int device) {
  return guarded([&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    set_current_device(device);
    return device_error(device);
  });
}

ROCELANE_LAB_API cudaError_t cudaGetDevice(int* device) {
  return guarded([&] {
    *device = current_device();
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                    int device) {
  return guarded([&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *value = attribute_of(attribute, device);
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return guarded([&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *properties = cudaDeviceProp{};
    std::strcpy(properties->name, "Rocelane emulated GPU");
    properties->totalGlobalMem = settings()->gpu_memory_bytes;
    properties->major = kComputeMajor;
    properties->minor = kComputeMinor;
    properties->multiProcessorCount = kMultiprocessors;
    properties->warpSize = kWarpThreads;
    properties->maxThreadsPerBlock = kBlockThreads;
    properties->sharedMemPerBlock = kSharedBytesPerBlock;
    properties->sharedMemPerBlockOptin = kSharedBytesPerBlockOptIn;
    properties->pciBusID = settings()->first_bus + device;
    properties->unifiedAddressing = 1;
    properties->canMapHostMemory = 1;
    properties->asyncEngineCount = 1;
    properties->concurrentKernels = 1;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return guarded([&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    const std::string text = pci_bus_id(*settings(), device);
    if (bus_id == nullptr || length <= static_cast<int>(text.size())) {
      return cudaErrorInvalidValue;
    }
    std::memcpy(bus_id, text.c_str(), text.size() + 1);
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* bus_id) {
  return guarded([&] {
    for (int candidate = 0; candidate < settings()->gpu_count; ++candidate) {
      if (pci_bus_id(*settings(), candidate) == bus_id) {
        *device = candidate;
        return cudaSuccess;
      }
    }
    return cudaErrorInvalidDevice;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return guarded([&] {
    *least = kLeastPriority;
    *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}

ROCELANE_LAB_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}

ROCELANE_LAB_API cudaError_t cudaDeviceSynchronize() {
  return guarded([] {
    Streams::of_process().synchronize(current_device());
    return device_error(current_device());
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceReset() {
  return guarded([] {
    Streams::of_process().synchronize(current_device());
    Allocations::of_process().release_all_of(current_device());
    clear_device_error(current_device());
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceSetLimit(cudaLimit /*limit*/, size_t /*value*/) {
  return guarded([] { return cudaSuccess; });
}

ROCELANE_LAB_API cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return guarded([&] {
    if (!is_device(device) || !is_device(peer)) {
      return cudaErrorInvalidDevice;
    }
    *can_access = 0;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
  return guarded([] { return cudaErrorPeerAccessUnsupported; });
}
