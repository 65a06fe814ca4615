#pragma once

// The sending side of a queue pair in a timed run. The caller holds the fabric's mutex.

#include <cstdint>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {
struct Burst;
}

namespace rocelane::softverbs::timed {

// Sends what the window, the link and the script allow.
void pump(Run& run, uint32_t slot);

// An answer has come.
void take_acknowledgement(Run& run, const Burst& answer);
void take_refusal(Run& run, const Burst& answer);
void take_read_data(Run& run, const Burst& answer);

// An event kTimer or kWaitOver.
void timer_fires(Run& run, uint32_t slot);
void wait_is_over(Run& run, uint32_t slot);

// A process was killed while it carried out an event. First, for every queue pair: finds out what
// of its send queue was completed last. Then: sends everything again that has no answer.
void settle_requester(Run& run, uint32_t slot);
void begin_again(Run& run, uint32_t slot);

// Fills in where a burst of this queue pair goes, by the path its packets take now. False when
// there is none.
bool address(Run& run, uint32_t slot, Burst& burst);

}  // namespace rocelane::softverbs::timed
