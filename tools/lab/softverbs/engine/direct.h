#pragma once

// Direct runs: nothing limits the fabric, so a work request is carried out by whoever posts it,
// before the post returns. What cannot go on (no receive posted, nobody at the other end) waits in
// its queue and is tried again when this process polls, or when the other end posts a receive.

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::direct {

int post_send(Run& run, uint32_t slot, ibv_send_wr* first, ibv_send_wr** bad);

// Tries what waits in a queue pair's send queue.
void progress(Run& run, uint32_t slot);

// Tries what waits in the queues of this process; costs next to nothing when nothing does.
void progress_all(Run& run);

// A queue pair takes messages from now on, which its peer may be waiting for.
void receiver_ready(Run& run, uint32_t slot);

// A receive has been posted to a queue pair, or to a shared receive queue, that somebody may be
// waiting for.
void receive_posted(Run& run, uint32_t slot);
void shared_receive_posted(Run& run, uint32_t queue);

}  // namespace rocelane::softverbs::direct
