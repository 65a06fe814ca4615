#pragma once

// Versions 8 to 10 know no context and never finalize: they share one, opened by init and closed
// when the library is unloaded.

#include "nccl_plugin/common.h"

namespace rocelane::net::abi {

// Opens the shared context, or keeps the one that is open.
NcclResult init_shared(NcclLogFunction log) noexcept;

// Its handle; nullptr before init succeeded.
void* shared_context();

NcclResult listen_shared(int device, void* handle, void** listener) noexcept;
NcclResult connect_shared(int device, void* handle, void** connection,
                          NcclNetDeviceHandle** offload) noexcept;

}  // namespace rocelane::net::abi
