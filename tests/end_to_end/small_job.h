#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "collperf/checked_run.h"
#include "collperf/communicators.h"
#include "collperf/job.h"

namespace rocelane::end_to_end {

// An all_reduce of float sums over all ranks of a job.
collperf::CallPlan all_reduce_plan(int ranks, size_t count);

Result<std::unique_ptr<collperf::Communicators>> create_communicators(const collperf::Job& job);

// One all_reduce with every element checked: an error when one is wrong.
Status check_all_reduce(collperf::Communicators& comms, int ranks, size_t count, uint64_t seed);

// A communicator from its creation to its end, with a checked all_reduce between.
Status full_round(const collperf::Job& job, size_t count, uint64_t seed);

}  // namespace rocelane::end_to_end
