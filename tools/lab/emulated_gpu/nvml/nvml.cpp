// The management library NCCL loads by name. It knows the same GPUs as the emulated CUDA runtime.

#include <cstdint>

#include "settings.h"

#define ROCELANE_LAB_NVML extern "C" __attribute__((visibility("default")))

namespace {

// NVML's numbers, as far as they are needed.
enum class NvmlResult : int {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kUnknown = 999,
};

// A device is its ordinal, counted from one so that none is null.
using DeviceHandle = void*;

// nvmlGpuP2PStatus: "chipset not supported". Ranks of one host then talk through shared memory.
constexpr int kPeerAccessUnsupported = 1;

const rocelane::lab::Settings* settings() {
  const auto& read = rocelane::lab::settings();
  return read.ok() ? &*read : nullptr;
}

NvmlResult count_devices(unsigned* count) {
  if (settings() == nullptr) {
    return NvmlResult::kUnknown;
  }
  *count = static_cast<unsigned>(settings()->gpu_count);
  return NvmlResult::kSuccess;
}

DeviceHandle handle_of(int device) {
  return reinterpret_cast<DeviceHandle>(static_cast<uintptr_t>(device) + 1);
}

}  // namespace

ROCELANE_LAB_NVML NvmlResult nvmlInit() {
  return settings() == nullptr ? NvmlResult::kUnknown : NvmlResult::kSuccess;
}
ROCELANE_LAB_NVML NvmlResult nvmlInit_v2() { return nvmlInit(); }
ROCELANE_LAB_NVML NvmlResult nvmlShutdown() { return NvmlResult::kSuccess; }

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetCount(unsigned* count) { return count_devices(count); }
ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetCount_v2(unsigned* count) { return count_devices(count); }

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetHandleByPciBusId(const char* bus_id,
                                                           DeviceHandle* handle) {
  for (int device = 0; settings() != nullptr && device < settings()->gpu_count; ++device) {
    if (rocelane::lab::pci_bus_id(*settings(), device) == bus_id) {
      *handle = handle_of(device);
      return NvmlResult::kSuccess;
    }
  }
  return NvmlResult::kNotFound;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* handle) {
  if (settings() == nullptr || index >= static_cast<unsigned>(settings()->gpu_count)) {
    return NvmlResult::kInvalidArgument;
  }
  *handle = handle_of(static_cast<int>(index));
  return NvmlResult::kSuccess;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetIndex(DeviceHandle handle, unsigned* index) {
  *index = static_cast<unsigned>(reinterpret_cast<uintptr_t>(handle) - 1);
  return NvmlResult::kSuccess;
}

ROCELANE_LAB_NVML const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case NvmlResult::kSuccess:
      return "success";
    case NvmlResult::kInvalidArgument:
      return "invalid argument";
    case NvmlResult::kNotSupported:
      return "not supported by the emulated GPU";
    case NvmlResult::kNotFound:
      return "no such emulated GPU";
    case NvmlResult::kUnknown:
      break;
  }
  return "unknown error of the emulated GPU";
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetCudaComputeCapability(DeviceHandle /*handle*/, int* major,
                                                                int* minor) {
  *major = rocelane::lab::kComputeMajor;
  *minor = rocelane::lab::kComputeMinor;
  return NvmlResult::kSuccess;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetP2PStatus(DeviceHandle /*one*/, DeviceHandle /*other*/,
                                                    int /*capability*/, int* status) {
  *status = kPeerAccessUnsupported;
  return NvmlResult::kSuccess;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetNvLinkState(DeviceHandle /*handle*/, unsigned /*link*/,
                                                      int* active) {
  *active = 0;
  return NvmlResult::kNotSupported;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetNvLinkRemotePciInfo(DeviceHandle /*handle*/,
                                                              unsigned /*link*/, void* /*info*/) {
  return NvmlResult::kNotSupported;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetNvLinkCapability(DeviceHandle /*handle*/,
                                                           unsigned /*link*/, int /*capability*/,
                                                           unsigned* /*result*/) {
  return NvmlResult::kNotSupported;
}

ROCELANE_LAB_NVML NvmlResult nvmlDeviceGetFieldValues(DeviceHandle /*handle*/, int /*count*/,
                                                      void* /*values*/) {
  return NvmlResult::kNotSupported;
}
