// Every algorithm and protocol with every collective, several types and awkward sizes, in one
// process start, because starting up is what costs most on emulated hosts.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collperf/checked_run.h"
#include "collperf/communicators.h"
#include "collperf/job.h"
#include "nccl_log.h"

namespace {

using namespace rocelane;
using namespace rocelane::collperf;
using namespace rocelane::end_to_end;

struct Settings {
  std::vector<std::string> algorithms{"Ring", "Tree"};
  std::vector<std::string> protocols{"Simple", "LL", "LL128"};
  std::vector<std::string> collectives{"all_reduce", "all_gather", "reduce_scatter",
                                       "broadcast",  "reduce",     "alltoall"};
  std::vector<std::string> types{"float", "bfloat16", "int8"};
  std::vector<size_t> counts{0, 1, 3, 17, 1000, 4097, 100003};
  int gpus = 1;
  int deadline_s = 120;
  std::string network;  // empty: whichever NCCL takes
};

struct Combination {
  std::string algorithm;
  std::string protocol;
};

struct Tally {
  size_t calls = 0;
  size_t elements = 0;
  size_t wrong = 0;
};

Status read_settings(int argument_count, char** arguments, Settings& settings) {
  CLI::App app("Checks every element of every collective for each of NCCL's algorithms");
  app.add_option("--algorithms", settings.algorithms)
      ->delimiter(',')
      ->check(CLI::IsMember({"Ring", "Tree"}));
  app.add_option("--protocols", settings.protocols)
      ->delimiter(',')
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}));
  app.add_option("--collectives", settings.collectives)->delimiter(',');
  app.add_option("--types", settings.types)->delimiter(',');
  app.add_option("--counts", settings.counts, "Elements of each call, or of each of its blocks")
      ->delimiter(',');
  app.add_option("-g,--ngpus", settings.gpus);
  app.add_option("--deadline", settings.deadline_s);
  app.add_option("--expect-network", settings.network, "Fail when NCCL uses another one");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument, error.what()};
  }
  for (const std::string& name : settings.collectives) {
    if (!collective_named(name)) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("--collectives: '{}'?", name)};
    }
  }
  for (const std::string& name : settings.types) {
    if (!element_type_named(name)) {
      return Error{ErrorCode::kInvalidArgument, fmt::format("--types: '{}'?", name)};
    }
  }
  return {};
}

// NCCL reads these two when it creates a communicator. Only all_reduce has a tree; asked for a
// tree, the other collectives would be refused, so they stay on rings.
void ask_for(const Combination& combination) {
  setenv("NCCL_ALGO",
         combination.algorithm == "Tree" ? "ring;allreduce:tree" : combination.algorithm.c_str(),
         1);
  setenv("NCCL_PROTO", combination.protocol.c_str(), 1);
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

// NCCL's name of the function, where NCCL reports what it chose for it.
std::string reported_name(const std::string& collective) {
  const std::map<std::string, std::string> names{{"all_reduce", "AllReduce"},
                                                 {"all_gather", "AllGather"},
                                                 {"reduce_scatter", "ReduceScatter"},
                                                 {"broadcast", "Broadcast"},
                                                 {"reduce", "Reduce"}};
  const auto found = names.find(collective);
  return found == names.end() ? "" : found->second;
}

// Whether the log shows what was asked for, for every collective that ran with data, and nothing
// else.
Status confirm_choices(const Combination& combination, const Settings& settings,
                       const std::map<TuningChoice, size_t>& choices) {
  for (const auto& [choice, times] : choices) {
    const bool on_tree = combination.algorithm == "Tree" && choice.function == "AllReduce";
    const TuningChoice wanted{choice.function, on_tree ? "TREE" : "RING",
                              upper_case(combination.protocol)};
    if (choice != wanted) {
      return Error{
          ErrorCode::kRemote,
          fmt::format("NCCL ran {} {} times with {} {} instead of {} {}.", choice.function, times,
                      choice.algorithm, choice.protocol, wanted.algorithm, wanted.protocol)};
    }
  }
  const bool moves_data = std::any_of(settings.counts.begin(), settings.counts.end(),
                                      [](size_t count) { return count > 0; });
  for (const std::string& collective : settings.collectives) {
    const std::string name = reported_name(collective);
    const bool reported = std::any_of(choices.begin(), choices.end(), [&](const auto& entry) {
      return entry.first.function == name;
    });
    if (moves_data && !name.empty() && !reported) {
      return Error{ErrorCode::kRemote,
                   fmt::format("NCCL's log does not say how it ran {}.", collective)};
    }
  }
  return {};
}

Status run_collective(Communicators& comms, const Settings& settings, int ranks,
                      Collective collective, ElementType type, Tally& tally) {
  const std::optional<ReduceOp> op =
      reduces(collective) ? std::optional(ReduceOp::kSum) : std::nullopt;
  const size_t largest = *std::max_element(settings.counts.begin(), settings.counts.end());
  const size_t buffer_bytes =
      shape_of_call(collective, largest, ranks).larger_count() * size_of(type);
  const Result<RankTools> tools = RankTools::make(comms, buffer_bytes, type, op);
  if (!tools) {
    return tools.error();
  }
  uint64_t seed = 1;
  for (const size_t count : settings.counts) {
    for (const bool in_place : {false, true}) {
      if (in_place && !works_in_place(collective)) {
        continue;
      }
      // Each count has another root.
      const int root = static_cast<int>(count % static_cast<size_t>(ranks));
      const CallPlan plan{
          collective, shape_of_call(collective, count, ranks), type, op, root, ranks, in_place};
      const Result<CheckedOutcome> outcome = run_checked(comms, plan, seed++, *tools);
      if (!outcome) {
        return outcome.error();
      }
      ++tally.calls;
      tally.elements += outcome->delivered;
      tally.wrong += outcome->wrong.count;
    }
  }
  return {};
}

Status add_up(Rendezvous& rendezvous, size_t& number) {
  const Result<std::vector<double>> all =
      rendezvous.exchange_numbers("tally", static_cast<double>(number));
  if (!all) {
    return all.error();
  }
  double sum = 0;
  for (const double theirs : *all) {
    sum += theirs;
  }
  number = static_cast<size_t>(sum);
  return {};
}

Result<Tally> run_combination(const Combination& combination, const Settings& settings,
                              const Job& job) {
  ask_for(combination);
  Result<std::unique_ptr<Communicators>> comms =
      Communicators::create(job.layout, *job.rendezvous, *job.watchdog);
  if (!comms) {
    return comms.error();
  }
  Tally tally;
  for (const std::string& collective : settings.collectives) {
    for (const std::string& type : settings.types) {
      const Status ran =
          run_collective(**comms, settings, job.layout.ranks(), *collective_named(collective),
                         *element_type_named(type), tally);
      if (!ran) {
        return ran.error();
      }
    }
  }
  Status done = add_up(*job.rendezvous, tally.elements);
  done = done ? add_up(*job.rendezvous, tally.wrong) : done;
  done = done ? (*comms)->destroy() : done;
  if (!done) {
    return done.error();
  }
  return tally;
}

// The number of wrong elements.
Result<size_t> run_matrix(const Settings& settings, const Job& job, NcclLog& log) {
  size_t wrong = 0;
  for (const std::string& algorithm : settings.algorithms) {
    for (const std::string& protocol : settings.protocols) {
      const Combination combination{algorithm, protocol};
      const Clock::time_point started = Clock::now();
      const Result<Tally> tally = run_combination(combination, settings, job);
      if (!tally) {
        return tally.error();
      }
      wrong += tally->wrong;
      const Status network =
          settings.network.empty() ? Status() : log.expect_network(settings.network);
      if (!network) {
        return network.error();
      }
      if (!job.layout.prints()) {
        continue;
      }
      const auto choices = log.new_choices();
      const Status confirmed =
          choices ? confirm_choices(combination, settings, *choices) : Status(choices.error());
      if (!confirmed) {
        return confirmed.error();
      }
      fmt::print("{:4} {:6}: {} calls, {} elements checked, {} wrong, {}, {:.1f} s\n", algorithm,
                 protocol, tally->calls, tally->elements, tally->wrong,
                 choices->empty() ? "NCCL's log does not tell how sends and receives are run"
                                  : "algorithm and protocol confirmed by NCCL's log",
                 std::chrono::duration<double>(Clock::now() - started).count());
      std::fflush(stdout);
    }
  }
  return wrong;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Settings settings;
  const Status read = read_settings(argument_count, arguments, settings);
  if (!read) {
    fmt::print(stderr, "collective_matrix: {}\n", read.error().what);
    return 2;
  }
  NcclLog log;
  Result<Job> job = join_job(settings.gpus, settings.deadline_s);
  if (!job) {
    leave_now(job.error().what);
  }
  const Result<size_t> wrong = run_matrix(settings, *job, log);
  if (!wrong) {
    job->rendezvous->give_up(wrong.error().what);
    leave_now(wrong.error().what);
  }
  return *wrong == 0 ? 0 : 1;
}
