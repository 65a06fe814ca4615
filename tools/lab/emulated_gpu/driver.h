#pragma once

namespace rocelane::lab {

// The CUDA driver functions NCCL asks for by name. Those without an emulation are all led to one
// that fails with CUDA_ERROR_NOT_SUPPORTED; nullptr for what is no driver function.
void* find_driver_function(const char* name);

}  // namespace rocelane::lab
