#pragma once

#include <memory>

#include "base/result.h"
#include "collperf/rank_layout.h"
#include "collperf/rendezvous.h"
#include "collperf/watchdog.h"

namespace rocelane::collperf {

// What every program of several ranks needs before its first communicator.
struct Job {
  RankLayout layout;
  std::unique_ptr<Rendezvous> rendezvous;
  std::unique_ptr<Watchdog> watchdog;
};

// Reads the environment, checks that the GPUs exist and meets the other processes.
Result<Job> join_job(int gpus_per_process, int deadline_s);

}  // namespace rocelane::collperf
