#pragma once

// What `rocelane tuner-eval` was asked for.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace rocelane::tuner_eval {

enum class Policy : uint8_t {
  kDefault,  // what NCCL chose by itself
  kTable,    // from sizes that were measured completely
  kSearch,   // a search at every size
};

struct Options {
  std::string grid_file;
  Policy policy = Policy::kTable;
  int train_every = 1;  // kTable: of the sizes in ascending order, measure the first of so many
  double noise_percent = 0;   // deviation of the logarithm of every measurement
  double stalls_percent = 5;  // measurements that stall, where there is noise
  int draws = 20;             // times everything is repeated with other noise; without noise once
  uint64_t seed = 1;
  std::string json_file;
};

struct CommandLine {
  Options options;
  std::string policy = "table";
};

// Options of the subcommand. `line` must outlive `app`.
void declare_options(CLI::App& app, CommandLine& line);

// What the words mean together, or one sentence about what is wrong with them.
Result<Options> interpret(const CommandLine& line);

}  // namespace rocelane::tuner_eval
