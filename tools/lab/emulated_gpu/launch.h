#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace rocelane::lab {

// A CUDA function handle is the host address of the kernel, and names one of NCCL's kernels.
CUresult launch_kernel(CUfunction function, CUstream stream, void** extra);

// The runtime's way to launch, which NCCL uses for communicators of one rank.
cudaError_t launch_one_rank_kernel(const void* kernel, void** arguments, cudaStream_t stream);

// The event a launch asks to be told by, when all blocks of the kernel have begun.
CUresult record_launch_event(CUevent event, CUstream stream);

}  // namespace rocelane::lab
