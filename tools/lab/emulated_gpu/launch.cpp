#include "launch.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "device/one_rank.h"
#include "devices.h"
#include "events.h"
#include "nccl_library.h"
#include "report.h"
#include "streams.h"

namespace rocelane::lab {
namespace {

constexpr size_t kArgumentAlignment = 64;

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

// The launch's argument block; the caller's own copy does not live as long as the kernel.
struct ArgumentBlock {
  std::shared_ptr<void> start;
  size_t bytes = 0;
};

ArgumentBlock copy_arguments(const void* from, size_t bytes) {
  const size_t rounded = (bytes + kArgumentAlignment - 1) / kArgumentAlignment * kArgumentAlignment;
  void* memory = std::aligned_alloc(kArgumentAlignment, rounded);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memcpy(memory, from, bytes);
  return {std::shared_ptr<void>(memory, FreeMemory{}), bytes};
}

struct ArgumentSource {
  const void* start = nullptr;
  size_t bytes = 0;
};

// The list alternates between a tag and its value.
ArgumentSource find_arguments(void** extra) {
  ArgumentSource source;
  for (void** entry = extra; entry != nullptr && *entry != CU_LAUNCH_PARAM_END; entry += 2) {
    if (*entry == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      source.start = entry[1];
    } else if (*entry == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      source.bytes = *static_cast<const size_t*>(entry[1]);
    }
  }
  return source;
}

// nullptr when the address is none of these kernels.
const std::string* find_kernel(const std::map<uintptr_t, std::string>& kernels,
                               const void* address) {
  const auto found = kernels.find(reinterpret_cast<uintptr_t>(address));
  return found == kernels.end() ? nullptr : &found->second;
}

// What run_kernel says, also when it runs out of memory or threads.
std::string complaint_of(const NcclImage& image, const ArgumentBlock& arguments) {
  try {
    return run_kernel(image, arguments.start.get(), arguments.bytes);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void run_on_device(const NcclImage& image, const std::string& kernel,
                   const ArgumentBlock& arguments, int device) {
  if (device_error(device) != cudaSuccess) {
    return;
  }
  const std::string complaint = complaint_of(image, arguments);
  if (!complaint.empty()) {
    fail_device(device, cudaErrorLaunchFailure, fmt::format("{}: {}", kernel, complaint));
  }
}

}  // namespace

CUresult launch_kernel(CUfunction function, CUstream stream_handle, void** extra) {
  const auto stream = Streams::of_process().find(stream_handle, current_device());
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (const cudaError_t error = device_error(stream->device()); error != cudaSuccess) {
    return static_cast<CUresult>(error);
  }
  const AttachedNccl* nccl = attached_nccl();
  const std::string* kernel =
      nccl == nullptr ? nullptr : find_kernel(nccl->collective_kernels, function);
  if (kernel == nullptr) {
    report("a kernel that is not one of NCCL's collectives was launched; it is not emulated");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const ArgumentSource source = find_arguments(extra);
  if (source.start == nullptr || source.bytes == 0) {
    report(fmt::format("{} was launched without an argument block", *kernel));
    return CUDA_ERROR_INVALID_VALUE;
  }
  Streams::of_process().submit(*stream, [nccl, kernel, device = stream->device(),
                                         arguments = copy_arguments(source.start, source.bytes)] {
    run_on_device(nccl->image, *kernel, arguments, device);
  });
  return CUDA_SUCCESS;
}

cudaError_t launch_one_rank_kernel(const void* address, void** arguments,
                                   cudaStream_t stream_handle) {
  const auto stream = Streams::of_process().find(stream_handle, current_device());
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const AttachedNccl* nccl = attached_nccl();
  const std::string* kernel =
      nccl == nullptr ? nullptr : find_kernel(nccl->one_rank_kernels, address);
  Stream::Task task = kernel == nullptr ? Stream::Task{} : one_rank_kernel(*kernel, arguments);
  if (!task) {
    report(fmt::format("cudaLaunchKernel was called for {}, which is not emulated",
                       kernel == nullptr ? "a kernel unknown here" : *kernel));
    return cudaErrorNotSupported;
  }
  const int device = stream->device();
  Streams::of_process().submit(*stream, [device, task = std::move(task)] {
    if (device_error(device) == cudaSuccess) {
      task();
    }
  });
  return device_error(device);
}

CUresult record_launch_event(CUevent event_handle, CUstream stream_handle) {
  const auto event = Events::of_process().find(event_handle);
  const auto stream = Streams::of_process().find(stream_handle, current_device());
  if (event == nullptr || stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  record(*event, *stream);
  return CUDA_SUCCESS;
}

}  // namespace rocelane::lab
