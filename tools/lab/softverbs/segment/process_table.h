#pragma once

#include <cstdint>

namespace rocelane::softverbs {

class Run;

// A slot for this process; kNone when all are taken.
uint32_t claim_process(Run& run);

// Gives up what processes that ended without a word have left behind.
void reap_dead_processes(Run& run);
// The same, but not more often than a few times a second. The caller holds no mutex of the run.
void reap_now_and_then(Run& run);

}  // namespace rocelane::softverbs
