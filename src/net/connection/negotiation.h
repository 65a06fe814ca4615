#pragma once

// Deciding what two ends agree on. Pure: descriptions in, paths out.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/handshake_message.h"
#include "net/connection/lane_set.h"
#include "net/device/gid_selection.h"

namespace rocelane::net {

// One of our ports as it is now.
struct LivePort {
  std::shared_ptr<const Port> port;
  PortFacts facts;
  std::vector<GidEntry> gids;  // rank_gids, best first; not empty
};

// What the connection will use.
struct Agreement {
  LanePaths paths;
  size_t data_lanes = 1;           // for all messages
  size_t receiver_ports = 1;       // so many keys has each buffer of the receiver's
  uint32_t max_message_bytes = 0;  // of one work request: what all ports can carry
};

// The listener decides: it sees both ends' candidates. `own_ports`: by rail. `rails`: our own rail
// of each of the peer's data lanes that are kept, the first ones; all other lanes go over the first
// one's.
Result<Agreement> agree_as_listener(const EndFacts& own, std::span<const LivePort> own_ports,
                                    std::span<const uint8_t> rails, const EndDescription& peer);

// The dialer follows the answer and checks it: a peer may not choose what was not offered.
Result<Agreement> agree_as_dialer(const EndFacts& own, std::span<const LivePort> own_ports,
                                  std::span<const uint8_t> rails, const EndDescription& peer);

// "RoCE v2 10.0.0.1 (index 3, eth1) to ::ffff:10.0.0.2"
std::string describe(const Route& route);
// "rocelane: eth traffic …" facts of an agreement in a few words, for the INFO line of a new
// connection.
std::string describe(const Agreement& agreement);

}  // namespace rocelane::net
