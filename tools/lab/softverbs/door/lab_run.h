#pragma once

#include <string>

namespace rocelane::softverbs {

class Run;

namespace door {

// The run of this process, joined if need be; its files below /sys are shown from then on. nullptr:
// there is none.
Run* join_run();

// Ends this process' part in its run: writes the counters if it is asked to, stops its thread.
void leave_run();

// All counters of the run as JSON.
std::string counters_text(Run& run);

}  // namespace door
}  // namespace rocelane::softverbs
