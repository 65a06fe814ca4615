#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

// A new queue, or kNone and errno: ENOMEM when the device, or the run's memory, has no more.
uint32_t create_completion_queue(Run& run, uint32_t context, uint32_t entries, uint32_t channel,
                                 uint64_t cookie);
void destroy_completion_queue(Run& run, uint32_t slot);

// Appends. False when the queue is full: it is in error from then on, its context has been told,
// and the queue pair must go to error too.
bool push_completion(Run& run, uint32_t slot, const Completion& completion);

// Takes up to `most` entries, oldest first, and frees the places in the work queues that they stand
// for. -1 when the queue is in error and empty.
int take_completions(Run& run, uint32_t slot, int most, ibv_wc* entries);

// The one appended last, even if it has been taken since; of a queue that had none, one with the
// source kNone.
Completion last_completion(Run& run, uint32_t slot);

// Removes what a queue pair has left in a queue.
void forget_completions(Run& run, uint32_t slot, uint32_t queue_pair);

// The next completion writes to the queue's channel.
void arm(Run& run, uint32_t slot);

// As it lies in a channel's pipe.
struct ChannelRecord {
  uint32_t slot;
};

}  // namespace rocelane::softverbs
