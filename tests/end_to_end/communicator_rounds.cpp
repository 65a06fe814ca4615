// Communicators that come and go must leave nothing behind: no thread, file or RDMA object.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nccl_log.h"
#include "resource_counts.h"
#include "small_job.h"

namespace {

using namespace rocelane;
using namespace rocelane::collperf;
using namespace rocelane::end_to_end;

struct Settings {
  int rounds = 50;
  int warm_up_rounds = 2;
  size_t count = 65536;
  int gpus = 1;
  int deadline_s = 120;
  bool needs_rdma = false;
  std::string network;  // empty: whichever NCCL takes
};

// Some things are made once in a process and kept; the rounds before the first count make them.
Result<ResourceCounts> warm_up(const Settings& settings, const Job& job) {
  for (int round = 0; round < settings.warm_up_rounds; ++round) {
    const Status done = full_round(job, settings.count, static_cast<uint64_t>(round));
    if (!done) {
      return done.error();
    }
  }
  // A rank of the same host that is still at work would be seen too.
  const Status all_idle = job.rendezvous->barrier("all ranks are idle");
  return all_idle ? count_resources() : Result<ResourceCounts>(all_idle.error());
}

Status expect_rdma_objects_in_use(const Job& job, size_t count) {
  Result<std::unique_ptr<Communicators>> comms = create_communicators(job);
  if (!comms) {
    return comms.error();
  }
  const Status checked = check_all_reduce(**comms, job.layout.ranks(), count, 99);
  const Result<ResourceCounts> during = count_resources();
  const Status destroyed = checked ? (*comms)->destroy() : checked;
  if (!destroyed || !during) {
    return destroyed ? during.error() : destroyed.error();
  }
  fmt::print("rank {} during: {}\n", job.layout.rank_of(0), text_of(*during));
  if (during->queue_pairs == 0 || during->memory_regions == 0) {
    return Error{ErrorCode::kRemote,
                 "While a communicator existed this process had no queue pair or no memory region, "
                 "so the counts prove nothing. Is the network an RDMA one?"};
  }
  return {};
}

Status run(const Settings& settings, const Job& job, const NcclLog& log) {
  const Result<ResourceCounts> before = warm_up(settings, job);
  if (!before) {
    return before.error();
  }
  const int rank = job.layout.rank_of(0);
  fmt::print("rank {} before: {}\n", rank, text_of(*before));
  if (settings.needs_rdma) {
    const Status used = expect_rdma_objects_in_use(job, settings.count);
    if (!used) {
      return used;
    }
  }
  for (int round = 0; round < settings.rounds; ++round) {
    const Status done = full_round(job, settings.count, 1000 + static_cast<uint64_t>(round));
    if (!done) {
      return Error{done.error().code, fmt::format("Round {}: {}", round, done.error().what)};
    }
  }
  const Status all_idle = job.rendezvous->barrier("all ranks are idle again");
  const Status network = settings.network.empty() ? Status() : log.expect_network(settings.network);
  if (!all_idle || !network) {
    return all_idle ? network : all_idle;
  }
  const Result<ResourceCounts> after = count_when_settled(*before, std::chrono::seconds(5));
  if (!after) {
    return after.error();
  }
  fmt::print("rank {} after {} rounds: {}\n", rank, settings.rounds, text_of(*after));
  if (*after != *before) {
    return Error{ErrorCode::kInternal,
                 fmt::format("Rank {} had {} before {} rounds and has {} after them.", rank,
                             text_of(*before), settings.rounds, text_of(*after))};
  }
  return job.rendezvous->barrier("end of the rounds");
}

}  // namespace

int main(int argument_count, char** arguments) {
  Settings settings;
  CLI::App app("Counts threads, files and RDMA objects around rounds of create, use, destroy");
  app.add_option("--rounds", settings.rounds)->capture_default_str();
  app.add_option("--count", settings.count, "Elements of each all_reduce")->capture_default_str();
  app.add_option("-g,--ngpus", settings.gpus)->capture_default_str();
  app.add_option("--deadline", settings.deadline_s)->capture_default_str();
  app.add_flag("--needs-rdma", settings.needs_rdma, "Fail when no RDMA object is ever used");
  app.add_option("--expect-network", settings.network, "Fail when NCCL uses another one");
  CLI11_PARSE(app, argument_count, arguments);
  const NcclLog log;
  Result<Job> job = join_job(settings.gpus, settings.deadline_s);
  if (!job) {
    leave_now(job.error().what);
  }
  const Status done = run(settings, *job, log);
  if (!done) {
    job->rendezvous->give_up(done.error().what);
    leave_now(done.error().what);
  }
  return 0;
}
