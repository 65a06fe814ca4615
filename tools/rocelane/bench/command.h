#pragma once

// `rocelane bench` as a subcommand of the tool.

#include "bench/options.h"

namespace rocelane::bench {

// What the subcommand prints and returns: 0 measured; 2 it cannot be done as asked; 3 a measurement
// failed; 130 interrupted.
int run_bench(const CommandLine& line);

}  // namespace rocelane::bench
