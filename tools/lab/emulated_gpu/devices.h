#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

namespace rocelane::lab {

bool is_device(int device);

// The calling thread's current device, as cudaSetDevice chose it.
int current_device();
void set_current_device(int device);

// A device whose kernel failed stays failed, as on real CUDA: every later call that touches it
// returns the error. The first sentence is reported, later ones follow from it.
void fail_device(int device, cudaError_t error, std::string_view sentence);
cudaError_t device_error(int device);
void clear_device_error(int device);

}  // namespace rocelane::lab
