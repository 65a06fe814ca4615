#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

struct QueuePairWishes {
  uint32_t context = 0;
  uint32_t domain = 0;
  uint32_t send_queue = 0;
  uint32_t receive_queue = 0;
  uint32_t shared_receive_queue = kNone;
  bool signal_all = false;
  ibv_qp_cap limits{};
};

// A new queue pair in the state RESET. kNone and errno: EINVAL beyond the device's limits, ENOMEM
// when the device or the run has no more.
uint32_t create_queue_pair(Run& run, const QueuePairWishes& wishes);
// Returns when nothing is being written through the queue pair any more.
void destroy_queue_pair(Run& run, uint32_t slot);

// 0 or an errno value, as ibv_modify_qp. A step to RTR towards an unreachable peer may take its
// time.
int modify_queue_pair(Run& run, uint32_t slot, const ibv_qp_attr& attributes, int mask);

}  // namespace rocelane::softverbs
