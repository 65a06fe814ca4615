#pragma once

#include <cstdint>

#include "softverbs/include/softverbs/softverbs.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs::door {

softverbs_qp_counters read_counters(const QueuePairCounters& counters);
softverbs_device_counters read_device_counters(Run& run, uint32_t device);
softverbs_link_counters read_link_counters(Run& run, uint32_t link);

}  // namespace rocelane::softverbs::door
