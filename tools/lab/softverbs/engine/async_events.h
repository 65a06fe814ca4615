#pragma once

// Asynchronous events: written into the pipe of every context they concern, by whichever process
// finds the cause.

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

// As it lies in the pipe. `slot` names the object of its kind; `generation` is that of a queue
// pair.
struct EventRecord {
  uint32_t type;  // ibv_event_type
  uint32_t slot;
  uint32_t generation;
};

void raise_queue_pair_event(Run& run, uint32_t slot, ibv_event_type type);
void raise_completion_queue_event(Run& run, uint32_t slot);
void raise_shared_receive_event(Run& run, uint32_t slot);
// To all contexts of the device: port and device events.
void raise_device_event(Run& run, uint32_t device, ibv_event_type type);

}  // namespace rocelane::softverbs
