#pragma once

#include <cstdint>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

// Sends a burst on its way, along the path in it; after the last link an event kDeliver follows.
void launch(Run& run, uint32_t burst);
// The burst has reached the end of its link.
void arrive(Run& run, uint32_t burst);
// Changes a link's rate, of what it is sending too. 0: unlimited.
void set_rate(Run& run, uint32_t link, double bits_per_s);
// The link may have sent what it was sending.
void link_is_free(Run& run, uint32_t link);

// The queue pair wants to send over its first link, which is busy; pump() is called when it is its
// turn.
void wait_for_link(Run& run, uint32_t link, uint8_t priority, uint32_t queue_pair);
void stop_waiting(Run& run, uint32_t queue_pair);

// Loses everything on the link and in front of it, and whoever waits for it. What was done to the
// link stays.
void empty_link(Run& run, uint32_t link);

// Whether switches have taken the link out of their tables.
bool is_avoided(const Run& run, uint32_t link, uint64_t now_ns);

}  // namespace rocelane::softverbs::timed
