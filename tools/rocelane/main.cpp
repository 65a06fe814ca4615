#include <cstdio>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/command.h"
#include "bench/worker.h"
#include "bench/worker_process.h"
#include "tuner_eval/command.h"

namespace {

using namespace rocelane;

constexpr int kExitBadInput = 2;

constexpr const char* kBenchHelp =
    "Measures a net plugin as NCCL uses it: latency, bandwidth, message rate, and what they cost.\n"
    "Both ends run on this machine, between two of its RDMA devices.";

constexpr const char* kTunerEvalHelp =
    "Replays a tuner's policy on measured times: what it would have cost or gained.";

int run_bench_worker(int argument_count, char** arguments) {
  const bool verbose = argument_count > 2 && std::string_view(arguments[2]) == "--verbose";
  return bench::run_worker(bench::Channel(FileDescriptor(bench::kWorkerDescriptor)), verbose);
}

bool has_command(CLI::App& app, std::string_view name) {
  return !app.get_subcommands([&](CLI::App* command) { return command->get_name() == name; })
              .empty();
}

}  // namespace

int main(int argument_count, char** arguments) {
  // Our own processes, one for each net that is measured.
  if (argument_count > 1 && std::string_view(arguments[1]) == bench::kWorkerArgument) {
    return run_bench_worker(argument_count, arguments);
  }
  CLI::App app("Tools for networks of GPU clusters that run NCCL over Rocelane.", "rocelane");
  app.require_subcommand(1);
  bench::CommandLine bench_line;
  CLI::App* const bench_app = app.add_subcommand("bench", kBenchHelp);
  bench::declare_options(*bench_app, bench_line);
  tuner_eval::CommandLine tuner_eval_line;
  CLI::App* const tuner_eval_app = app.add_subcommand("tuner-eval", kTunerEvalHelp);
  tuner_eval::declare_options(*tuner_eval_app, tuner_eval_line);
  if (argument_count > 1 && arguments[1][0] != '-' && !has_command(app, arguments[1])) {
    fmt::print(stderr, "rocelane: '{}' is not a command. See rocelane --help.\n", arguments[1]);
    return kExitBadInput;
  }
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const char* const name = bench_app->count() > 0        ? "rocelane bench"
                             : tuner_eval_app->count() > 0 ? "rocelane tuner-eval"
                                                           : "rocelane";
    fmt::print(stderr, "{0}: {1}. See {0} --help.\n", name, error.what());
    return kExitBadInput;
  }
  return tuner_eval_app->count() > 0 ? tuner_eval::run_tuner_eval(tuner_eval_line)
                                     : bench::run_bench(bench_line);
}
