#pragma once

#include "bench/channel.h"

namespace rocelane::bench {

// The life of a worker process: it is told a net and its connections, then measurements, until the
// channel closes. Answers are {"fine": …} or {"error": sentence, "bad_input": bool}. Returns the
// process's exit status.
int run_worker(Channel channel, bool verbose);

}  // namespace rocelane::bench
