#pragma once

#include "softverbs/include/softverbs/softverbs.h"
#include "softverbs/sysfs/node.h"

namespace rocelane::softverbs {

// ports/1/counters. Only what is counted is there: of what arrived at a port, nothing.
Directory counter_files(const softverbs_device_counters& counters);

// ports/1/hw_counters, by the names that mlx5 devices use. What softverbs never does is there and
// stays 0.
Directory hardware_counter_files(const softverbs_device_counters& counters);

}  // namespace rocelane::softverbs
