#include "small_job.h"

#include <fmt/format.h>

namespace rocelane::end_to_end {

using namespace rocelane::collperf;

CallPlan all_reduce_plan(int ranks, size_t count) {
  return {Collective::kAllReduce,
          shape_of_call(Collective::kAllReduce, count, ranks),
          ElementType::kFloat,
          ReduceOp::kSum,
          0,
          ranks,
          false};
}

Result<std::unique_ptr<Communicators>> create_communicators(const Job& job) {
  return Communicators::create(job.layout, *job.rendezvous, *job.watchdog);
}

Status check_all_reduce(Communicators& comms, int ranks, size_t count, uint64_t seed) {
  const CallPlan plan = all_reduce_plan(ranks, count);
  const Result<RankTools> tools = RankTools::make(comms, plan.larger_bytes(), plan.type, plan.op);
  if (!tools) {
    return tools.error();
  }
  const Result<CheckedOutcome> outcome = run_checked(comms, plan, seed, *tools);
  if (!outcome) {
    return outcome.error();
  }
  if (outcome->wrong.count > 0) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{} of {} elements are wrong, first: {}.", outcome->wrong.count,
                             outcome->delivered, outcome->wrong.first)};
  }
  return {};
}

Status full_round(const Job& job, size_t count, uint64_t seed) {
  Result<std::unique_ptr<Communicators>> comms = create_communicators(job);
  if (!comms) {
    return comms.error();
  }
  const Status checked = check_all_reduce(**comms, job.layout.ranks(), count, seed);
  return checked ? (*comms)->destroy() : checked;
}

}  // namespace rocelane::end_to_end
