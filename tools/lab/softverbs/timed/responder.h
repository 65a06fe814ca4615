#pragma once

#include <cstdint>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

// A burst has reached its device: places its data and answers, or hands an answer to the requester.
// Ends the burst. The caller holds the fabric's mutex.
void deliver(Run& run, uint32_t burst);

}  // namespace rocelane::softverbs::timed
