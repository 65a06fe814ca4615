// ncclCommAbort while data is on the wire: it returns soon, leaves nothing behind, and the process
// can go on with another communicator.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "collperf/nccl_calls.h"
#include "nccl_log.h"
#include "resource_counts.h"
#include "small_job.h"

namespace {

using namespace rocelane;
using namespace rocelane::collperf;
using namespace rocelane::end_to_end;

struct Settings {
  size_t count = 4U << 20;
  int calls = 50;
  int rounds = 2;
  int gpus = 1;
  int abort_deadline_s = 10;
  int deadline_s = 120;
  std::string network;  // empty: whichever NCCL takes
};

constexpr size_t kSmallCount = 65536;

class Event {
 public:
  static Result<Event> record_on(cudaStream_t stream) {
    Event event;
    Status done = check_cuda(cudaEventCreateWithFlags(&event.event_, cudaEventDisableTiming),
                             "cudaEventCreateWithFlags");
    if (done) {
      done = check_cuda(cudaEventRecord(event.event_, stream), "cudaEventRecord");
    }
    if (!done) {
      return done.error();
    }
    return event;
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) {
      cudaEventDestroy(event_);
    }
  }
  bool passed() const { return cudaEventQuery(event_) == cudaSuccess; }

 private:
  Event() = default;
  cudaEvent_t event_ = nullptr;
};

// Many large calls on the stream, of which the first has ended: data is moving.
Status get_traffic_going(const Settings& settings, Communicators& comms, const CallPlan& plan,
                         const RankTools& tools) {
  Status issued = issue_plan(comms, plan, tools, 0);
  if (!issued) {
    return issued;
  }
  const cudaStream_t stream = comms.local_ranks().front().stream;
  const Result<Event> first_ended = Event::record_on(stream);
  if (!first_ended) {
    return first_ended.error();
  }
  for (int call = 1; call < settings.calls && issued; ++call) {
    issued = issue_plan(comms, plan, tools, 0);
  }
  const Deadline end = Clock::now() + std::chrono::seconds(settings.deadline_s);
  while (issued && !first_ended->passed()) {
    if (Clock::now() > end) {
      return Error{ErrorCode::kRemote, "The first large all_reduce never ended."};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (issued && cudaStreamQuery(stream) != cudaErrorNotReady) {
    return Error{ErrorCode::kInvalidArgument,
                 "All calls had ended before the abort: raise --calls or --count."};
  }
  return issued;
}

Status abort_in_time(const Settings& settings, Communicators& comms, int rank) {
  const Clock::time_point started = Clock::now();
  const Status aborted = comms.abort();
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  fmt::print("rank {} aborted in {:.3f} s\n", rank, seconds);
  if (aborted && seconds > settings.abort_deadline_s) {
    return Error{ErrorCode::kRemote,
                 fmt::format("ncclCommAbort took {:.1f} s on rank {}; {} s are allowed.", seconds,
                             rank, settings.abort_deadline_s)};
  }
  return aborted;
}

Status abort_under_load(const Settings& settings, const Job& job) {
  Result<std::unique_ptr<Communicators>> comms = create_communicators(job);
  if (!comms) {
    return comms.error();
  }
  const CallPlan plan = all_reduce_plan(job.layout.ranks(), settings.count);
  // Freed after the abort: nothing of the communicator may touch them any more.
  const Result<RankTools> tools = RankTools::make(**comms, plan.larger_bytes(), plan.type, plan.op);
  if (!tools) {
    return tools.error();
  }
  const Status moving = get_traffic_going(settings, **comms, plan, *tools);
  return moving ? abort_in_time(settings, **comms, job.layout.rank_of(0)) : moving;
}

Status run(const Settings& settings, const Job& job, const NcclLog& log) {
  const int rank = job.layout.rank_of(0);
  Status done = full_round(job, kSmallCount, 1);
  done = done ? full_round(job, settings.count, 2) : done;
  if (!done) {
    return done;
  }
  // A rank of the same host that is still at work would be seen too.
  done = job.rendezvous->barrier("all ranks are idle");
  if (!done) {
    return done;
  }
  const Result<ResourceCounts> before = count_resources();
  if (!before) {
    return before.error();
  }
  fmt::print("rank {} before: {}\n", rank, text_of(*before));
  for (int round = 0; round < settings.rounds; ++round) {
    done = abort_under_load(settings, job);
    done = done ? job.rendezvous->barrier("after the abort") : done;
    if (!done) {
      return done;
    }
    const Result<ResourceCounts> after =
        count_when_settled(*before, std::chrono::seconds(settings.abort_deadline_s));
    if (!after) {
      return after.error();
    }
    fmt::print("rank {} after abort {}: {}\n", rank, round, text_of(*after));
    if (*after != *before) {
      return Error{ErrorCode::kInternal,
                   fmt::format("Rank {} had {} before abort {} and has {} after it.", rank,
                               text_of(*before), round, text_of(*after))};
    }
    done = job.rendezvous->barrier("all have counted");
    done = done ? full_round(job, kSmallCount, 10 + static_cast<uint64_t>(round)) : done;
    if (!done) {
      return Error{done.error().code,
                   fmt::format("A new communicator after the abort: {}", done.error().what)};
    }
    fmt::print("rank {} works again: {} elements right\n", rank, kSmallCount);
    std::fflush(stdout);
  }
  done = settings.network.empty() ? Status() : log.expect_network(settings.network);
  return done ? job.rendezvous->barrier("end of the rounds") : done;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Settings settings;
  CLI::App app("Aborts a communicator while a large all_reduce is running");
  app.add_option("--count", settings.count, "Elements of each call")->capture_default_str();
  app.add_option("--calls", settings.calls, "Calls put on the stream")->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Aborts")->capture_default_str();
  app.add_option("-g,--ngpus", settings.gpus)->capture_default_str();
  app.add_option("--abort-deadline", settings.abort_deadline_s)->capture_default_str();
  app.add_option("--deadline", settings.deadline_s)->capture_default_str();
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
