#pragma once

#include <cstdint>
#include <optional>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

// What is to come, soonest first. The caller holds the fabric's mutex. `owner` decides among events
// of one time: those of one owner happen in the order of their making, those of different owners in
// a random one.
void schedule(Run& run, uint64_t time_ns, Event::Kind kind, uint32_t subject, uint64_t owner);

// The first event if it is due by then. Whoever takes it carries it out and says so.
std::optional<Event> take_due(Run& run, uint64_t time_ns);
void is_carried_out(Run& run);

// Whether there is room for what `bursts` bursts under way may still make.
bool reserve_events(Run& run, uint64_t bursts);

// Forgets everything but what the script plans, which survives even when a process was killed while
// it changed the queue.
void keep_plans_only(Run& run);

}  // namespace rocelane::softverbs::timed
