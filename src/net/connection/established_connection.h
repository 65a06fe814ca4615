#pragma once

// What a finished handshake hands to the data path.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/connection/lane_set.h"
#include "net/connection/negotiation.h"
#include "net/connection/tcp_stream.h"
#include "net/memory/registered_buffer.h"

namespace rocelane::net {

// Remote memory of the sending end that the receiving end writes clear-to-send records into.
struct RemoteRing {
  uint64_t address = 0;
  uint32_t key = 0;
};

struct EstablishedConnection {
  // Destroyed from the bottom up: the lanes first, so that nothing lands in the ring any more.
  TcpStream link;                            // stays open: its end tells that the peer is gone
  std::optional<RegisteredBuffer> own_ring;  // sender
  RemoteRing peer_ring;                      // receiver
  std::shared_ptr<LaneSet> lanes;
  std::vector<Duration> round_trips;  // of the probe, by lane, the control lane last
  size_t small_message_bytes = 0;     // the largest message that takes the lane for small ones
  size_t smallest_stripe_bytes = 0;   // the least a lane gets of a striped message
  Agreement agreement;
  std::string own_name;  // "mlx5_0:1 on host-a"
  std::string peer_name;
  std::string peer_host, peer_device;
};

// A failed completion as a sentence with device, port, GIDs, peer, queue pair and cause.
std::string describe_failed_completion(const ibv_wc& completion, const LaneSet& lanes,
                                       const Agreement& agreement, const std::string& own_name,
                                       const std::string& peer_name, bool peer_is_gone);

}  // namespace rocelane::net
