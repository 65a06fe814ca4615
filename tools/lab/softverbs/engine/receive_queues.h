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

// Takes the oldest. False when there is none. `sges` has room for kMostSges.
bool take_receive(Run& run, ReceiveQueue& queue, ReceiveEntry* entry, ibv_sge* sges);

uint32_t create_shared_receive_queue(Run& run, uint32_t context, uint32_t domain, uint32_t capacity,
                                     uint32_t max_sge, uint64_t cookie);
void destroy_shared_receive_queue(Run& run, uint32_t slot);

}  // namespace rocelane::softverbs
