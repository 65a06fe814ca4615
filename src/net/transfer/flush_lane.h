#pragma once

// Makes received data visible to a GPU: a one-byte read from the received buffer, looped back
// through the same NIC function, pushes everything the NIC has written before it out of the PCIe
// path.

#include <cstdint>
#include <memory>
#include <optional>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/lane_set.h"
#include "net/connection/negotiation.h"
#include "net/memory/registered_buffer.h"
#include "verbs/queue_pair.h"

namespace rocelane::net {

class FlushLane {
 public:
  static constexpr uint32_t kDepth = kFlushDepth;

  // A queue pair connected to itself. Needs no packet on the wire, so it does not block.
  // Completions go where those of `lanes` go, which outlive it.
  static Result<FlushLane> create(const LaneSet& lanes, const Agreement& agreement);

  // 0 or the errno of the post.
  int post(uint64_t address, uint32_t key, uint64_t work_id);

 private:
  FlushLane(RegisteredBuffer landing, verbs::QueuePair pair)
      : landing_(std::move(landing)), pair_(std::move(pair)) {}

  RegisteredBuffer landing_;
  verbs::QueuePair pair_;
};

}  // namespace rocelane::net
