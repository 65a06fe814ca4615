#include "driver.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include "allocations.h"
#include "devices.h"
#include "launch.h"
#include "softverbs/include/softverbs/dma_buf_export.h"

namespace rocelane::lab {
namespace {

// As with guarded(): nothing thrown reaches NCCL.
template <class Body>
CUresult guarded_driver(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// A context is its device, counted from one so that none is null.
CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
}

CUresult get_current_context(CUcontext* context) {
  *context = context_of(current_device());
  return CUDA_SUCCESS;
}

CUresult set_current_context(CUcontext context) {
  const auto number = reinterpret_cast<uintptr_t>(context);
  if (number == 0) {
    return CUDA_SUCCESS;
  }
  if (!is_device(static_cast<int>(number - 1))) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  set_current_device(static_cast<int>(number - 1));
  return CUDA_SUCCESS;
}

CUresult get_context_device(CUdevice* device) {
  *device = current_device();
  return CUDA_SUCCESS;
}

CUresult get_device(CUdevice* device, int ordinal) {
  if (!is_device(ordinal)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *device = ordinal;
  return CUDA_SUCCESS;
}

// Virtual memory management, multicast and the like are not emulated: 0.
CUresult get_device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!is_device(device)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *value = 0;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) {
    return static_cast<CUresult>(
        cudaDeviceGetAttribute(value, cudaDevAttrComputeCapabilityMajor, device));
  }
  if (attribute == CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) {
    *value = 1;
  }
  return CUDA_SUCCESS;
}

// The numbers of the driver's errors and of the runtime's agree where we use them.
CUresult get_error_string(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult get_error_name(CUresult error, const char** text) {
  *text = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult get_address_range(CUdeviceptr* start, size_t* bytes, CUdeviceptr address) {
  return guarded_driver([&] {
    const auto allocation = Allocations::of_process().find(reinterpret_cast<const void*>(address));
    if (!allocation) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (start != nullptr) {
      *start = allocation->start;
    }
    if (bytes != nullptr) {
      *bytes = allocation->bytes;
    }
    return CUDA_SUCCESS;
  });
}

// The descriptor becomes the caller's.
CUresult export_address_range(void* handle, CUdeviceptr start, size_t bytes,
                              CUmemRangeHandleType type, unsigned long long /*flags*/) {
  return guarded_driver([&] {
    if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const auto* address = reinterpret_cast<const void*>(start);
    const auto allocation = Allocations::of_process().find(address);
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t room = allocation ? allocation->start + allocation->bytes - start : 0;
    if (!allocation || allocation->kind != MemoryKind::kDevice || bytes == 0 || start % page != 0 ||
        bytes > (room + page - 1) / page * page) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = softverbs::export_dma_buf(start, bytes);
    if (file < 0) {
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *static_cast<int*>(handle) = file;
    return CUDA_SUCCESS;
  });
}

CUresult launch_extended(const CUlaunchConfig* config, CUfunction function, void** /*parameters*/,
                         void** extra) {
  return guarded_driver([&] {
    for (const CUlaunchAttribute& attribute : std::span(config->attrs, config->numAttrs)) {
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
        const CUresult recorded =
            record_launch_event(attribute.value.launchCompletionEvent.event, config->hStream);
        if (recorded != CUDA_SUCCESS) {
          return recorded;
        }
      }
    }
    return launch_kernel(function, config->hStream, extra);
  });
}

CUresult launch_plain(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, CUstream stream, void** /*parameters*/, void** extra) {
  return guarded_driver([&] { return launch_kernel(function, stream, extra); });
}

// NCCL asks for this before it tries cuMemCreate, whose failure it understands.
CUresult get_allocation_granularity(size_t* bytes, const CUmemAllocationProp* /*properties*/,
                                    CUmemAllocationGranularity_flags /*which*/) {
  *bytes = size_t{2} << 20;
  return CUDA_SUCCESS;
}

CUresult not_supported() { return CUDA_ERROR_NOT_SUPPORTED; }

struct DriverFunction {
  std::string_view name;
  void* address;
};

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

const std::array kFunctions{
    DriverFunction{"cuCtxGetCurrent", address_of(get_current_context)},
    DriverFunction{"cuCtxGetDevice", address_of(get_context_device)},
    DriverFunction{"cuCtxSetCurrent", address_of(set_current_context)},
    DriverFunction{"cuDeviceGet", address_of(get_device)},
    DriverFunction{"cuDeviceGetAttribute", address_of(get_device_attribute)},
    DriverFunction{"cuGetErrorName", address_of(get_error_name)},
    DriverFunction{"cuGetErrorString", address_of(get_error_string)},
    DriverFunction{"cuLaunchKernel", address_of(launch_plain)},
    DriverFunction{"cuLaunchKernelEx", address_of(launch_extended)},
    DriverFunction{"cuMemGetAddressRange", address_of(get_address_range)},
    DriverFunction{"cuMemGetAllocationGranularity", address_of(get_allocation_granularity)},
    DriverFunction{"cuMemGetHandleForAddressRange", address_of(export_address_range)},
};

}  // namespace

void* find_driver_function(const char* name) {
  const auto* found = std::ranges::find(kFunctions, std::string_view(name), &DriverFunction::name);
  if (found != kFunctions.end()) {
    return found->address;
  }
  return std::strncmp(name, "cu", 2) == 0 ? address_of(not_supported) : nullptr;
}

}  // namespace rocelane::lab
