#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

bool make_receive_queue(Run& run, ReceiveQueue& queue, uint32_t capacity, uint32_t max_sge);
void unmake_receive_queue(Run& run, ReceiveQueue& queue);

// Appends one work request. 0, or an errno value: ENOMEM when the queue is full, EINVAL for too
// many SGEs.
int append_receive(Run& run, ReceiveQueue& queue, const ibv_recv_wr& request);

// Where a queue pair takes its receives from.
ReceiveQueue& receives_of(Run& run, QueuePair& pair);

// Takes the oldest; to be put into a responder, which then has it even if this process is killed at
// the wrong moment. False when there is none.
bool take_receive(Run& run, ReceiveQueue& queue, Responder& responder);
// Finds out whether a receive that was being taken when the process was killed was.
void settle_receive(ReceiveQueue& queue, const Responder& responder);

uint32_t create_shared_receive_queue(Run& run, uint32_t context, uint32_t domain, uint32_t capacity,
                                     uint32_t max_sge, uint64_t cookie);
void destroy_shared_receive_queue(Run& run, uint32_t slot);

}  // namespace rocelane::softverbs
