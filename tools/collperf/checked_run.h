#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "collperf/checked_call.h"
#include "collperf/communicators.h"
#include "collperf/nccl_calls.h"

namespace rocelane::collperf {

// What the ranks of one process need for calls of one type and operation; by local rank.
struct RankTools {
  std::vector<RankBuffers> buffers;
  std::vector<NcclReduceOp> ops;

  static Result<RankTools> make(const Communicators& comms, size_t content_bytes, ElementType type,
                                std::optional<ReduceOp> op);
};

struct CheckedOutcome {
  size_t delivered = 0;  // elements that had to arrive at the ranks of this process
  Mismatches wrong;
};

// Issues the call `plan` describes on every rank of this process.
Status issue_plan(Communicators& comms, const CallPlan& plan, const RankTools& tools,
                  size_t shift_bytes);

// One call with data made from `seed`, waited for and verified. Prints what is wrong to stderr.
Result<CheckedOutcome> run_checked(Communicators& comms, const CallPlan& plan, uint64_t seed,
                                   const RankTools& tools);

}  // namespace rocelane::collperf
