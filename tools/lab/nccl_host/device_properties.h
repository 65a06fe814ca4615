#pragma once

#include "base/result.h"
#include "nccl_plugin/net_v12.h"

namespace rocelane::nccl_host {

// Why NCCL would refuse or misread a device; success when it would not.
Status check_properties(int device, const NcclNetPropertiesV12& properties);

}  // namespace rocelane::nccl_host
