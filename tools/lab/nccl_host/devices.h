#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nccl_host/caller.h"
#include "nccl_host/net.h"

namespace rocelane::nccl_host {

using Devices = std::vector<NcclNetPropertiesV12>;  // by number; never empty

// "init returned remote error (6)."
Error call_refused(const char* call, NcclResult result);

// What a net that was initialized says about one device, when NCCL could live with it.
Result<NcclNetPropertiesV12> learn_device(Net& net, Caller& caller, int device);
// The same about all of them; an error when there is none.
Result<Devices> learn_devices(Net& net, Caller& caller);

// The number of the device that was asked for by name or by number. Nets number the same devices
// differently, so a name says more.
Result<int> find_device(const Devices& devices, const std::string& asked, int rank,
                        std::string_view net_name);

// The same; "soft_0+soft_1" asks the net to join these devices, and adds what comes of it.
Result<int> find_or_join(Net& net, Caller& caller, Devices& devices, const std::string& asked,
                         int rank);

}  // namespace rocelane::nccl_host
