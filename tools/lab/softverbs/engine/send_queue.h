#pragma once

// The send queue of a queue pair. Unless a function says otherwise, its caller holds
// pair.send_mutex.

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/engine/memory.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

// A work request and where its data are named: in the queue, or still with the caller who posts it.
struct SendView {
  SendEntry entry{};
  const ibv_sge* sges = nullptr;
};

// Reads a work request. 0, or EINVAL, or ENOMEM when the queue is full.
int read_request(const QueuePair& pair, const ibv_send_wr& request, SendView* view);
// Counts it as posted.
void count_request(Run& run, QueuePair& pair, const SendView& view);

// Puts it at the end of the queue. False when the run's memory is used up.
bool enqueue(Run& run, QueuePair& pair, const SendView& view);
SendEntry& entry_at(Run& run, QueuePair& pair, uint64_t index);
SendView view_at(Run& run, QueuePair& pair, uint64_t index);
uint64_t send_ring_bytes(const QueuePair& pair);

// Where a work request's data lie. `access`: IBV_ACCESS_LOCAL_WRITE for the target of a READ.
// False: a wrong key.
bool find_payload(const QueuePair& pair, const SendView& view, HeldRegions& held, Pieces* pieces);

// Ends the work request with this index. Errors put the queue pair into the error state. False when
// that was already so, or because the completion queue is full.
bool finish(Run& run, uint32_t slot, uint64_t index, const SendEntry& entry, uint32_t status,
            uint32_t vendor_error = 0);

// Ends everything in both queues of a queue pair in error with a flush error. Takes the mutexes
// itself; a pair that has begun another life in the meantime is left alone.
void flush(Run& run, uint32_t slot);

}  // namespace rocelane::softverbs
