#include "collperf/job.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "collperf/nccl_calls.h"

namespace rocelane::collperf {

Result<Job> join_job(int gpus_per_process, int deadline_s) {
  Result<RankLayout> layout = rank_layout_from(process_environment, gpus_per_process);
  if (!layout) {
    return layout.error();
  }
  int present = 0;
  const Status counted = check_cuda(cudaGetDeviceCount(&present), "cudaGetDeviceCount");
  if (!counted) {
    return counted.error();
  }
  const int highest = layout->device_of(gpus_per_process - 1);
  if (highest >= present) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("RANK {} needs GPU {} (LOCAL_RANK {} with {} GPUs a process), but this "
                    "host has {}.",
                    layout->process, highest, layout->local_process, gpus_per_process, present)};
  }
  const std::chrono::milliseconds patience = std::chrono::seconds(deadline_s);
  Result<std::unique_ptr<Rendezvous>> rendezvous = Rendezvous::join(*layout, patience);
  if (!rendezvous) {
    return rendezvous.error();
  }
  return Job{*layout, std::move(*rendezvous), std::make_unique<Watchdog>(patience, leave_now)};
}

}  // namespace rocelane::collperf
