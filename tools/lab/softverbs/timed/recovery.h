#pragma once

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::timed {

// A process has died while it moved packets, and may have left anything half done: loses everything
// under way, and lets every queue pair begin again at its oldest packet without an answer. The
// script's plans stay. The caller holds the fabric's mutex.
void recover(Run& run);

}  // namespace rocelane::softverbs::timed
