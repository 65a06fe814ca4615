#include "collperf/checked_run.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

CollectiveCall call_of(const CallPlan& plan, const LocalRank& local, ncclRedOp_t op,
                       const RankBuffers& buffers, size_t shift_bytes) {
  const CallPointers pointers = pointers_of(plan, local.rank, buffers, shift_bytes);
  return {plan.collective,  pointers.send,
          pointers.receive, plan.shape.call_count,
          plan.type,        op,
          plan.root,        local.rank,
          plan.ranks,       local.comm,
          local.stream};
}

}  // namespace

Result<RankTools> RankTools::make(const Communicators& comms, size_t content_bytes,
                                  ElementType type, std::optional<ReduceOp> op) {
  RankTools tools;
  for (const LocalRank& local : comms.local_ranks()) {
    const Status selected = check_cuda(cudaSetDevice(local.device), "cudaSetDevice");
    if (!selected) {
      return selected.error();
    }
    Result<RankBuffers> buffers = RankBuffers::allocate(content_bytes);
    if (!buffers) {
      return buffers.error();
    }
    Result<NcclReduceOp> nccl_op =
        NcclReduceOp::make(op.value_or(ReduceOp::kSum), type, local.rank, local.comm);
    if (!nccl_op) {
      return nccl_op.error();
    }
    tools.buffers.push_back(std::move(*buffers));
    tools.ops.push_back(std::move(*nccl_op));
  }
  return tools;
}

Status issue_plan(Communicators& comms, const CallPlan& plan, const RankTools& tools,
                  size_t shift_bytes) {
  size_t next = 0;
  return comms.issue_together(name_of(plan.collective), [&](const LocalRank& local) {
    const size_t index = next++;
    return issue(call_of(plan, local, tools.ops[index].get(), tools.buffers[index], shift_bytes));
  });
}

Result<CheckedOutcome> run_checked(Communicators& comms, const CallPlan& plan, uint64_t seed,
                                   const RankTools& tools) {
  CheckedOutcome outcome;
  std::vector<CheckedCall> calls;
  for (size_t i = 0; i < tools.buffers.size(); ++i) {
    Result<CheckedCall> call =
        CheckedCall::prepare(plan, seed, comms.local_ranks()[i].rank, tools.buffers[i]);
    if (!call) {
      return call.error();
    }
    outcome.delivered += call->delivered_count();
    calls.push_back(std::move(*call));
  }
  Status done = issue_plan(comms, plan, tools, 0);
  if (done) {
    done = comms.wait(fmt::format("a checked {}", name_of(plan.collective)));
  }
  if (!done) {
    return done.error();
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    Result<Mismatches> mismatches = calls[i].verify();
    if (!mismatches) {
      return mismatches.error();
    }
    if (mismatches->count > 0) {
      fmt::print(stderr, "rank {}: {} of {} bytes, {} {}, {}: {} wrong, first: {}\n",
                 comms.local_ranks()[i].rank, name_of(plan.collective), plan.larger_bytes(),
                 name_of(plan.type), plan.op ? name_of(*plan.op) : "none",
                 plan.in_place ? "in place" : "out of place", mismatches->count, mismatches->first);
    }
    outcome.wrong.add(std::move(*mismatches));
  }
  return outcome;
}

}  // namespace rocelane::collperf
