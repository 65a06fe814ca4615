#pragma once

// `rocelane tuner-eval` as a subcommand of the tool.

#include "tuner_eval/options.h"

namespace rocelane::tuner_eval {

// What the subcommand prints and returns: 0 evaluated; 2 it cannot be done as asked; 3 a file could
// not be written.
int run_tuner_eval(const CommandLine& line);

}  // namespace rocelane::tuner_eval
