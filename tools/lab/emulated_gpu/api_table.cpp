#include "api_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "report.h"

namespace rocelane::lab {
namespace {

struct ApiFunction {
  std::string_view name;
  const void* address;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // NCCL may call them all the same
const auto& api_functions() {
#define ENTRY(function) \
  ApiFunction { #function, reinterpret_cast < const void*>(&function) }
  static const std::array functions{
      ENTRY(cudaCreateChannelDesc),
      ENTRY(cudaDeviceCanAccessPeer),
      ENTRY(cudaDeviceEnablePeerAccess),
      ENTRY(cudaDeviceGetAttribute),
      ENTRY(cudaDeviceGetByPCIBusId),
      ENTRY(cudaDeviceGetPCIBusId),
      ENTRY(cudaDeviceGetStreamPriorityRange),
      ENTRY(cudaDeviceReset),
      ENTRY(cudaDeviceSetLimit),
      ENTRY(cudaDeviceSynchronize),
      ENTRY(cudaDriverGetVersion),
      ENTRY(cudaEventCreate),
      ENTRY(cudaEventCreateWithFlags),
      ENTRY(cudaEventDestroy),
      ENTRY(cudaEventElapsedTime),
      ENTRY(cudaEventQuery),
      ENTRY(cudaEventRecord),
      ENTRY(cudaEventSynchronize),
      ENTRY(cudaFree),
      ENTRY(cudaFreeAsync),
      ENTRY(cudaFreeHost),
      ENTRY(cudaFuncGetAttributes),
      ENTRY(cudaFuncSetAttribute),
      ENTRY(cudaGetDevice),
      ENTRY(cudaGetDeviceCount),
      ENTRY(cudaGetDeviceProperties),
      ENTRY(cudaGetDriverEntryPoint),
      ENTRY(cudaGetDriverEntryPointByVersion),
      ENTRY(cudaGetErrorName),
      ENTRY(cudaGetErrorString),
      ENTRY(cudaGetFuncBySymbol),
      ENTRY(cudaGetLastError),
      ENTRY(cudaHostAlloc),
      ENTRY(cudaHostGetDevicePointer),
      ENTRY(cudaHostRegister),
      ENTRY(cudaHostUnregister),
      ENTRY(cudaIpcGetMemHandle),
      ENTRY(cudaLaunchHostFunc),
      ENTRY(cudaLaunchKernel),
      ENTRY(cudaMalloc),
      ENTRY(cudaMallocAsync),
      ENTRY(cudaMallocFromPoolAsync),
      ENTRY(cudaMallocHost),
      ENTRY(cudaMemGetInfo),
      ENTRY(cudaMemPoolCreate),
      ENTRY(cudaMemPoolDestroy),
      ENTRY(cudaMemPoolSetAttribute),
      ENTRY(cudaMemcpy),
      ENTRY(cudaMemcpyAsync),
      ENTRY(cudaMemset),
      ENTRY(cudaMemsetAsync),
      ENTRY(cudaPeekAtLastError),
      ENTRY(cudaPointerGetAttributes),
      ENTRY(cudaRuntimeGetVersion),
      ENTRY(cudaSetDevice),
      ENTRY(cudaStreamAddCallback),
      ENTRY(cudaStreamCreate),
      ENTRY(cudaStreamCreateWithFlags),
      ENTRY(cudaStreamCreateWithPriority),
      ENTRY(cudaStreamDestroy),
      ENTRY(cudaStreamGetCaptureInfo),
      ENTRY(cudaStreamGetDevice),
      ENTRY(cudaStreamGetFlags),
      ENTRY(cudaStreamGetPriority),
      ENTRY(cudaStreamIsCapturing),
      ENTRY(cudaStreamQuery),
      ENTRY(cudaStreamSynchronize),
      ENTRY(cudaStreamWaitEvent),
      ENTRY(cudaThreadExchangeStreamCaptureMode),
  };
#undef ENTRY
  return functions;
}
#pragma GCC diagnostic pop

struct NotEmulated {
  std::string name;
  std::atomic<bool> said = false;
};

cudaError_t refuse_call(NotEmulated* call) {
  if (!call->said.exchange(true)) {
    report(fmt::format("{} is not emulated and fails with cudaErrorNotSupported", call->name));
  }
  return cudaErrorNotSupported;
}

}  // namespace

const void* find_api(std::string_view name) {
  const auto* found = std::ranges::find(api_functions(), name, &ApiFunction::name);
  return found == api_functions().end() ? nullptr : found->address;
}

const void* not_emulated_entry() { return reinterpret_cast<const void*>(&refuse_call); }

const void* remember_not_emulated(const std::string& name) {
  // Patched code refers to them for as long as the process lives.
  static std::mutex mutex;
  static auto* const calls = new std::vector<std::unique_ptr<NotEmulated>>;
  const std::lock_guard lock(mutex);
  calls->push_back(std::make_unique<NotEmulated>());
  calls->back()->name = name;
  return calls->back().get();
}

}  // namespace rocelane::lab
