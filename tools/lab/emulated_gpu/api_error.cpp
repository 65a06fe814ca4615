#include <algorithm>
#include <array>
#include <atomic>

#include "api.h"
#include "devices.h"

namespace rocelane::lab {
namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

// Those this library returns, and those programs ask about most.
constexpr std::array kErrors{
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    ErrorText{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
              "invalid device function"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
              "invalid resource handle"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
              "an illegal memory access was encountered"},
    ErrorText{cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
              "peer access is not supported between these two devices"},
    ErrorText{cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
              "part or all of the requested memory range is already mapped"},
    ErrorText{cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
              "pointer does not correspond to a registered memory region"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    ErrorText{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText* find(cudaError_t code) {
  const auto* found = std::ranges::find(kErrors, code, &ErrorText::code);
  return found == kErrors.end() ? nullptr : found;
}

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t pending_error() {
  const cudaError_t sticky = device_error(current_device());
  return sticky != cudaSuccess ? sticky : last_error;
}

}  // namespace

cudaError_t note(cudaError_t error) {
  // "Not ready" is an answer, not a failure.
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    last_error = error;
  }
  return error;
}

}  // namespace rocelane::lab

namespace lab = rocelane::lab;

ROCELANE_LAB_API cudaError_t cudaGetLastError() {
  const cudaError_t error = lab::pending_error();
  lab::last_error = cudaSuccess;
  return error;
}

ROCELANE_LAB_API cudaError_t cudaPeekAtLastError() { return lab::pending_error(); }

ROCELANE_LAB_API const char* cudaGetErrorString(cudaError_t error) {
  const lab::ErrorText* known = lab::find(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}

ROCELANE_LAB_API const char* cudaGetErrorName(cudaError_t error) {
  const lab::ErrorText* known = lab::find(error);
  return known == nullptr ? "unrecognized error code" : known->name;
}
