#pragma once

// The script of disasters. The caller holds the fabric's mutex.

#include <cstdint>
#include <optional>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

// Schedules what the script does at a time, for faults from number `first` on; times count from
// `origin_ns`.
void schedule_faults(Run& run, uint32_t first, uint64_t origin_ns);

// A work request is posted: carries out what the script does at it, and marks it when the script
// has plans for it.
void notice_request(Run& run, const QueuePair& pair, SendEntry& entry);

void carry_out(Run& run, uint32_t fault);
void undo(Run& run, uint32_t fault);

// What the script does to a marked work request.
struct Ending {
  uint32_t status;
  uint32_t vendor_error;
};
std::optional<Ending> forced_ending(const Run& run, const SendEntry& entry);
bool drops_request(const Run& run, const SendEntry& entry);
bool drops_acknowledgement(const Run& run, const SendEntry& entry);
uint64_t extra_delay_ns(const Run& run, const SendEntry& entry);

}  // namespace rocelane::softverbs::timed
