#include "api.h"
#include "driver.h"
#include "launch.h"

namespace rocelane::lab {
namespace {

cudaError_t find_entry_point(const char* name, void** function,
                             cudaDriverEntryPointQueryResult* status) {
  *function = find_driver_function(name);
  if (status != nullptr) {
    *status =
        *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace rocelane::lab

using namespace rocelane::lab;

// Plausible for one of NCCL's kernels; it sizes its stack and shared memory by them.
ROCELANE_LAB_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                   const void* /*kernel*/) {
  return guarded([&] {
    *attributes = cudaFuncAttributes{};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 96;
    attributes->binaryVersion = 90;
    attributes->ptxVersion = 90;
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaFuncSetAttribute(const void* /*kernel*/,
                                                  cudaFuncAttribute /*attribute*/, int /*value*/) {
  return guarded([] { return cudaSuccess; });
}

ROCELANE_LAB_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return guarded([&] {
    *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
    return cudaSuccess;
  });
}

ROCELANE_LAB_API cudaError_t cudaLaunchKernel(const void* kernel, dim3 /*grid*/, dim3 /*block*/,
                                              void** arguments, size_t /*shared_bytes*/,
                                              cudaStream_t stream) {
  return guarded([&] { return launch_one_rank_kernel(kernel, arguments, stream); });
}

ROCELANE_LAB_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                     unsigned long long /*flags*/,
                                                     cudaDriverEntryPointQueryResult* status) {
  return guarded([&] { return find_entry_point(name, function, status); });
}

ROCELANE_LAB_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** function, unsigned /*cuda_version*/, unsigned long long /*flags*/,
    cudaDriverEntryPointQueryResult* status) {
  return guarded([&] { return find_entry_point(name, function, status); });
}

ROCELANE_LAB_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
