#pragma once

// Makes received data visible to a GPU: a one-byte read from the received buffer, looped back
// through the same NIC function, pushes everything the NIC has written before it out of the PCIe
// path. So each port that receives has one.

#include <cstdint>
#include <vector>

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

  // Queue pairs connected to themselves, one on each port that data lanes go over. Need no packet
  // on the wire, so this does not block. Completions go where those of `lanes` go, which outlive
  // them.
  static Result<std::vector<FlushLane>> create_all(const LaneSet& lanes,
                                                   const Agreement& agreement);

  uint8_t rail() const { return rail_; }

  // 0 or the errno of the post.
  int post(uint64_t address, uint32_t key, uint64_t work_id);

 private:
  FlushLane(uint8_t rail, RegisteredBuffer landing, verbs::QueuePair pair)
      : rail_(rail), landing_(std::move(landing)), pair_(std::move(pair)) {}
  static Result<FlushLane> create(const LaneSet& lanes, const LanePaths& paths, const Route& route);

  uint8_t rail_;
  RegisteredBuffer landing_;
  verbs::QueuePair pair_;
};

}  // namespace rocelane::net
