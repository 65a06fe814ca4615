#pragma once

// Timed runs: packets take the links of the fabric, and everything happens in the order of an event
// queue. Whoever calls verbs moves it on; in real time a thread of the process does so too while
// nobody calls.

#include <cstdint>
#include <mutex>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

using FabricLock = std::unique_lock<RobustMutex>;

// The fabric's mutex, of a timed run; otherwise nothing.
FabricLock lock(Run& run);

// Begins the script, once a run. Starts this process' thread when the clock is real; stop() ends
// that.
void begin(Run& run);
void stop();

int post_send(Run& run, uint32_t slot, ibv_send_wr* first, ibv_send_wr** bad);

// A queue pair has come to RTS or SQD: sends what may be sent, says when it is drained.
void resume(Run& run, uint32_t slot);

// A queue pair is reset or destroyed; the caller has the lock.
void forget(Run& run, uint32_t slot);

// Does what is due by now; costs next to nothing when nothing is.
void progress(Run& run);

// Virtual clock: does everything up to then, and leaves the clock there. The number of events.
uint64_t run_until(Run& run, uint64_t time_ns);

// Adds faults from now on. Only on a virtual clock do all processes know them, being one.
void inject(Run& run, const FaultScript& faults);

}  // namespace rocelane::softverbs::timed
