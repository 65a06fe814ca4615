#include "collperf/measurement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace rocelane::collperf {

Measurement::Measurement(const Options& options, const RankLayout& layout, Rendezvous& rendezvous,
                         Communicators& comms)
    : options_(options), layout_(layout), rendezvous_(rendezvous), comms_(comms) {}

Result<std::unique_ptr<Measurement>> Measurement::start(const Options& options,
                                                        const RankLayout& layout,
                                                        Rendezvous& rendezvous,
                                                        Communicators& comms, ElementType type,
                                                        std::optional<ReduceOp> op, int root) {
  std::unique_ptr<Measurement> made(new Measurement(options, layout, rendezvous, comms));
  made->type_ = type;
  made->op_ = op;
  made->root_ = root;
  Result<RankTools> tools = RankTools::make(comms, options.sizes.max_bytes, type, op);
  if (!tools) {
    return tools.error();
  }
  made->tools_ = std::move(*tools);
  return made;
}

CallPlan Measurement::plan_for(size_t size_bytes, bool in_place) const {
  const CallShape shape =
      shape_for_size(options_.collective, size_bytes, size_of(type_), layout_.ranks());
  return {options_.collective, shape, type_, op_, root_, layout_.ranks(), in_place};
}

Status Measurement::warm_up() {
  if (options_.warmup_iterations == 0) {
    return {};
  }
  Status done = run_calls(plan_for(options_.sizes.max_bytes, false), options_.warmup_iterations);
  if (done) {
    done = comms_.wait("the warm-up at the largest size");
  }
  if (done) {
    done = run_calls(plan_for(options_.sizes.min_bytes, false), options_.warmup_iterations);
  }
  return done ? comms_.wait("the warm-up at the smallest size") : done;
}

Result<ResultRow> Measurement::measure(size_t size_bytes) {
  const CallPlan plan = plan_for(size_bytes, false);
  ResultRow row;
  row.size_bytes = plan.larger_bytes();
  row.count = plan.shape.call_count;
  row.type = name_of(type_);
  row.op = op_ ? name_of(*op_) : "none";
  row.root = has_root(options_.collective) ? root_ : -1;
  for (const bool in_place : {false, true}) {
    const Result<RunResult> run = measure_run(plan_for(size_bytes, in_place));
    if (!run) {
      return run.error();
    }
    (in_place ? row.in_place : row.out_of_place) = *run;
  }
  return row;
}

Result<RunResult> Measurement::measure_run(const CallPlan& plan) {
  const Result<double> seconds = timed_seconds(plan);
  if (!seconds) {
    return seconds.error();
  }
  const Bandwidth bandwidth = bandwidth_of(plan.collective, plan.shape.call_count,
                                           size_of(plan.type), plan.ranks, *seconds);
  RunResult result{*seconds * 1e6, bandwidth.algorithm_gb_per_s, bandwidth.bus_gb_per_s, {}};
  if (options_.checks > 0 && (!plan.in_place || works_in_place(plan.collective))) {
    const Result<size_t> wrong = checked_wrong_count(plan);
    if (!wrong) {
      return wrong.error();
    }
    result.wrong = *wrong;
  }
  return result;
}

Result<double> Measurement::timed_seconds(const CallPlan& plan) {
  // One call first, so that connections made on demand are not timed.
  Status done = one_iteration(plan, 0);
  if (done) {
    done = comms_.wait("the call before the timing");
  }
  if (done) {
    done = rendezvous_.barrier("start of the timing");
  }
  if (!done) {
    return done.error();
  }
  const Clock::time_point started = Clock::now();
  done = run_calls(plan, options_.iterations);
  if (done) {
    done =
        comms_.wait(fmt::format("{} of {} bytes", name_of(plan.collective), plan.larger_bytes()));
  }
  if (!done) {
    return done.error();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count() /
                         options_.iterations / options_.calls_per_iteration;
  const Result<std::vector<double>> all = rendezvous_.exchange_numbers("times", seconds);
  if (!all) {
    return all.error();
  }
  return combined_time(options_.time_of, *all);
}

Status Measurement::run_calls(const CallPlan& plan, int iterations) {
  // Walks through the buffers, so that no call finds the data of the one before in a cache.
  constexpr size_t kAlignment = 16;
  const size_t stride = (plan.larger_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  const size_t steps = stride == 0 ? 1 : std::max<size_t>(1, options_.sizes.max_bytes / stride);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const size_t shift = stride * (static_cast<size_t>(iteration) % steps);
    Status issued = one_iteration(plan, shift);
    if (issued && options_.wait_after_each_call) {
      issued = comms_.wait(name_of(plan.collective));
    }
    if (!issued) {
      return issued;
    }
  }
  return {};
}

Status Measurement::one_iteration(const CallPlan& plan, size_t shift_bytes) {
  const bool aggregated = options_.calls_per_iteration > 1;
  if (aggregated) {
    const Status started = check_nccl(ncclGroupStart(), "ncclGroupStart");
    if (!started) {
      return started;
    }
  }
  Status issued;
  for (int call = 0; call < options_.calls_per_iteration && issued; ++call) {
    issued = issue_plan(comms_, plan, tools_, shift_bytes);
  }
  if (aggregated) {
    const Status ended = check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    issued = issued ? ended : issued;
  }
  return issued;
}

Result<size_t> Measurement::checked_wrong_count(const CallPlan& plan) {
  size_t wrong = 0;
  for (int check = 0; check < options_.checks && wrong == 0; ++check) {
    const Result<CheckedOutcome> outcome = run_checked(comms_, plan, ++seed_, tools_);
    if (!outcome) {
      return outcome.error();
    }
    const Result<std::vector<double>> all =
        rendezvous_.exchange_numbers("wrong elements", static_cast<double>(outcome->wrong.count));
    if (!all) {
      return all.error();
    }
    wrong = static_cast<size_t>(std::accumulate(all->begin(), all->end(), 0.0));
  }
  return wrong;
}

double combined_time(TimeOf time_of, const std::vector<double>& by_process) {
  switch (time_of) {
    case TimeOf::kRankZero:
      return by_process.front();
    case TimeOf::kFastest:
      return *std::min_element(by_process.begin(), by_process.end());
    case TimeOf::kSlowest:
      return *std::max_element(by_process.begin(), by_process.end());
    case TimeOf::kAverage:
      break;
  }
  return std::accumulate(by_process.begin(), by_process.end(), 0.0) /
         static_cast<double>(by_process.size());
}

}  // namespace rocelane::collperf
