#pragma once

#include <cstdint>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {
struct Burst;
}

namespace rocelane::softverbs::timed {

using LogLine = void (*)(void* user, const char* text);

// nullptr: nothing is logged, which costs nothing.
void set_event_log(LogLine line, void* user);

// Lines say what happened to whom by names and numbers that are the same in every run with the same
// seed.
void log_burst(Run& run, const char* what, const Burst& burst);
void log_queue_pair(Run& run, const char* what, uint32_t slot);
void log_fault(Run& run, const char* what, uint32_t fault);

}  // namespace rocelane::softverbs::timed
