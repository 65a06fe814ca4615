#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "base/unique_handle.h"

namespace rocelane::verbs {

struct QueuePairLimits {
  uint32_t send_depth = 0;     // work requests
  uint32_t receive_depth = 0;  // work requests
  uint32_t inline_bytes = 0;   // wished for; the device may give less
};

// Everything an RC queue pair needs to reach RTS, besides its creation.
struct QueuePairPath {
  uint8_t port = 1;
  uint16_t pkey_index = 0;
  uint8_t gid_index = 0;
  ibv_gid remote_gid{};
  uint32_t remote_queue_pair = 0;
  uint32_t remote_packet_sequence = 0;
  uint32_t local_packet_sequence = 0;
  uint32_t flow_label = 0;  // 1..0x3fff: the UDP source port becomes 0xC000 | flow_label
  uint8_t traffic_class = 0;
  uint8_t service_level = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  uint8_t timeout_exponent = 20;
  uint8_t retry_count = 7;
  bool peer_may_read = false;
};

// One reliable-connection queue pair. Not thread-safe: raised by one thread, then used by one
// other.
class QueuePair {
 public:
  static Result<QueuePair> create(ibv_pd* domain, ibv_cq* completions,
                                  const QueuePairLimits& limits);

  // INIT, then RTR and RTS. `to_ready_to_receive` may block for about a second while the kernel
  // resolves the peer's address; on a transient failure (`is_transient…`) it may be called again.
  Status to_init(const QueuePairPath& path);
  Status to_ready_to_receive(const QueuePairPath& path, int* error_number);
  Status to_ready_to_send(const QueuePairPath& path);
  // Stops the queue: everything outstanding completes with a flush error. Failure is of no use to
  // the caller.
  void to_error();

  ibv_qp* get() const { return handle_.get(); }
  uint32_t number() const { return handle_->qp_num; }
  uint32_t inline_bytes() const { return inline_bytes_; }

 private:
  struct Destroyer {
    using Pointer = ibv_qp*;
    void operator()(Pointer pair) const;
  };
  UniqueHandle<Destroyer> handle_;
  uint32_t inline_bytes_ = 0;
};

// The UDP source port that drivers derive from a non-zero flow label.
inline uint16_t udp_source_port(uint32_t flow_label) {
  return ibv_flow_label_to_udp_sport(flow_label);
}

}  // namespace rocelane::verbs
