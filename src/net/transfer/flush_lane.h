#pragma once

// Makes received data visible to a GPU: a one-byte read from the received buffer, looped back
// through the same NIC function, pushes everything the NIC has written before it out of the PCIe
// path.

#include <cstdint>
#include <memory>
#include <optional>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "net/connection/negotiation.h"
#include "net/device/port.h"
#include "net/memory/registered_buffer.h"
#include "verbs/objects.h"
#include "verbs/queue_pair.h"

namespace rocelane::net {

class FlushLane {
 public:
  static constexpr uint32_t kDepth = 64;

  // A queue pair connected to itself. Needs no packet on the wire, so it does not block.
  static Result<FlushLane> create(std::shared_ptr<const Port> port, const Agreement& agreement);

  // 0 or the errno of the post.
  int post(uint64_t address, uint32_t key, uint64_t id);
  // False: nothing has finished.
  bool poll(ibv_wc& completion);

 private:
  FlushLane(RegisteredBuffer landing, verbs::CompletionQueue completions, verbs::QueuePair pair)
      : landing_(std::move(landing)),
        completions_(std::move(completions)),
        pair_(std::move(pair)) {}

  RegisteredBuffer landing_;
  verbs::CompletionQueue completions_;
  verbs::QueuePair pair_;
};

}  // namespace rocelane::net
