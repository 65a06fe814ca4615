#pragma once

// Deciding what two ends agree on. Pure: descriptions in, paths out.

#include <string>
#include <vector>

#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/handshake_message.h"
#include "net/connection/lane_set.h"
#include "net/device/gid_selection.h"

namespace rocelane::net {

// What the connection will use; `local_gid` and `peer_gid` are for sentences, the rest goes into
// the lanes.
struct Agreement {
  LanePaths paths;
  GidEntry local_gid;
  OfferedGid peer_gid;
  uint8_t peer_gid_choice = 0;
  size_t data_lanes = 1;
  uint32_t max_message_bytes = 0;  // of one work request: what both ports can carry
};

// The listener decides: it sees both ends' candidates. `own_port`: as it is now. `own_gids`:
// rank_gids, best first.
Result<Agreement> agree_as_listener(const EndFacts& own, const PortFacts& own_port,
                                    const std::vector<GidEntry>& own_gids,
                                    const EndDescription& peer);

// The dialer follows the answer and checks it: a peer may not choose what was not offered.
Result<Agreement> agree_as_dialer(const EndFacts& own, const PortFacts& own_port,
                                  const std::vector<GidEntry>& own_gids,
                                  const EndDescription& peer);

// "rocelane: eth traffic …" facts of an agreement in a few words, for the INFO line of a new
// connection.
std::string describe(const Agreement& agreement);

}  // namespace rocelane::net
