#include "tuner_eval/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rocelane::tuner_eval {

void declare_options(CLI::App& app, CommandLine& line) {
  Options& options = line.options;
  app.add_option("--grid", options.grid_file, "Measured times, as docs/tuner.md describes the file")
      ->check(CLI::ExistingFile)
      ->required();
  app.add_option("--policy", line.policy, "default, table or search")->capture_default_str();
  app.add_option("--train-every", options.train_every,
                 "table: measure only the first of so many sizes, and judge all of them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--noise", options.noise_percent,
                 "Spread of the measurements the policy sees, in percent")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--stalls", options.stalls_percent,
                 "With --noise: measurements that take 1.3 to 3 times as long, in percent")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--draws", options.draws, "With --noise: times to repeat everything")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the noise")->capture_default_str();
  app.add_option("--json", options.json_file, "Also write the results to this file");
}

Result<Options> interpret(const CommandLine& line) {
  Options options = line.options;
  if (line.policy == "default") {
    options.policy = Policy::kDefault;
  } else if (line.policy == "table") {
    options.policy = Policy::kTable;
  } else if (line.policy == "search") {
    options.policy = Policy::kSearch;
  } else {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--policy {} is not one of this version's: choose default, table or "
                             "search.",
                             line.policy)};
  }
  if (options.train_every > 1 && options.policy != Policy::kTable) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--train-every leaves sizes out of a table, and --policy {} has none: "
                             "leave it out or choose table.",
                             line.policy)};
  }
  if (options.noise_percent == 0) {
    options.draws = 1;
  }
  return options;
}

}  // namespace rocelane::tuner_eval
