#pragma once

// Of a queue pair's send queue in a timed run: what is out, and what of it is acknowledged. The
// caller holds the fabric's mutex.

#include <cstdint>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint32_t kHalfOfPsns = 0x800000;

inline uint32_t distance(uint32_t from_psn, uint32_t to_psn) {
  return (to_psn - from_psn) & kPsnMask;
}
inline uint32_t burst_bytes(const Run& run) { return run.description().fabric.burst_bytes; }
uint32_t bursts_of(const Run& run, const SendEntry& entry);

// The oldest work request ends with an error, and all others are flushed.
void fail(Run& run, uint32_t slot, uint32_t status, uint32_t vendor_error);

void start_timer(Run& run, uint32_t slot);

// Everything from the packet `psn` on is sent again.
void go_back(Run& run, uint32_t slot, uint32_t psn);

// Whether an answer can be one: about packets that are out, and not about another connection's.
bool is_plausible(const Requester& requester, uint32_t psn);

// Ends everything that is acknowledged up to `psn`, which is the next one the responder expects.
void acknowledge(Run& run, uint32_t slot, uint32_t psn);

}  // namespace rocelane::softverbs::timed
