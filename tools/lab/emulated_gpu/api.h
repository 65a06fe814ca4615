#pragma once

#include <new>
#include <utility>

#include <cuda_runtime_api.h>

#include "settings.h"

// The CUDA functions of this library: benchmark programs link them, NCCL's own are led to them.
#define ROCELANE_LAB_API extern "C" __attribute__((visibility("default")))

namespace rocelane::lab {

// Remembers an error for cudaGetLastError and passes it on.
cudaError_t note(cudaError_t error);

// The body of every CUDA function: nothing thrown leaves it, and nothing works with bad settings.
template <class Body>
cudaError_t guarded(Body&& body) noexcept {
  try {
    return note(settings().ok() ? std::forward<Body>(body)() : cudaErrorInitializationError);
  } catch (const std::bad_alloc&) {
    return note(cudaErrorMemoryAllocation);
  } catch (...) {
    return note(cudaErrorUnknown);
  }
}

}  // namespace rocelane::lab
