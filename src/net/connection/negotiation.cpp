#include "net/connection/negotiation.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "net/device/gid.h"
#include "net/device/path_mtu.h"
#include "net/device/traffic_class.h"

namespace rocelane::net {
namespace {

// The part that both ends compute alike from each other's description.
Result<Agreement> agree_on_common(const EndFacts& own, const PortFacts& own_port,
                                  const EndDescription& peer) {
  const auto classes = agree_on_traffic_classes(
      own.traffic_classes, {peer.data_traffic_class, peer.control_traffic_class,
                            peer.data_class_explicit, peer.control_class_explicit});
  if (!classes) {
    return classes.error();
  }
  const auto mtu = choose_path_mtu(
      own_port.active_mtu_bytes, mtu_bytes_of_code(peer.mtu).value_or(0), own.settings->mtu_bytes);
  if (!mtu) {
    return mtu.error();
  }
  Agreement agreement;
  agreement.data_lanes = peer.data_lanes.size();
  agreement.max_message_bytes = std::min(own_port.max_message_bytes, peer.max_message_bytes);
  LanePaths& paths = agreement.paths;
  paths.mtu_code = static_cast<uint8_t>(mtu_code_of_bytes(*mtu).value_or(1));
  paths.data_traffic_class = classes->data;
  paths.control_traffic_class = classes->control;
  paths.service_level = static_cast<uint8_t>(own.settings->service_level);
  paths.pkey_index = static_cast<uint16_t>(own.settings->pkey_index);
  paths.ack_timeout = static_cast<uint8_t>(own.settings->ack_timeout);
  paths.retry_count = static_cast<uint8_t>(own.settings->retry_count);
  paths.control_peer = peer.control_lane;
  paths.data_peers = peer.data_lanes;
  return agreement;
}

void use_gids(Agreement& agreement, const GidEntry& local, const OfferedGid& remote) {
  agreement.local_gid = local;
  agreement.peer_gid = remote;
  agreement.paths.gid_index = static_cast<uint8_t>(local.index);
  agreement.paths.remote_gid = remote.gid;
}

std::string offered_gids_text(const std::vector<OfferedGid>& gids) {
  std::string text;
  for (const OfferedGid& offered : gids) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", gid_type_text(offered.type),
                        gid_text(offered.gid));
  }
  return text;
}

}  // namespace

Result<Agreement> agree_as_listener(const EndFacts& own, const PortFacts& own_port,
                                    const std::vector<GidEntry>& own_gids,
                                    const EndDescription& peer) {
  auto agreement = agree_on_common(own, own_port, peer);
  if (!agreement) {
    return agreement;
  }
  // The dialer's order is its preference: take its first candidate that one of ours can talk to.
  for (size_t i = 0; i < peer.gids.size(); ++i) {
    const auto local = choose_gid_for_peer(own_gids, peer.gids[i].gid, peer.gids[i].type);
    if (local) {
      use_gids(*agreement, *local, peer.gids[i]);
      agreement->peer_gid_choice = static_cast<uint8_t>(i);
      return agreement;
    }
  }
  std::string ours;
  for (const GidEntry& entry : own_gids) {
    ours += (ours.empty() ? "" : ", ") + describe(entry);
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("no pair of GIDs fits: {} offers {}, {} has {}; give both NICs an "
                           "address of the same family in networks that reach each other",
                           end_name(peer.device, peer.port, peer.host),
                           offered_gids_text(peer.gids), end_name(own), ours)};
}

Result<Agreement> agree_as_dialer(const EndFacts& own, const PortFacts& own_port,
                                  const std::vector<GidEntry>& own_gids,
                                  const EndDescription& peer) {
  auto agreement = agree_on_common(own, own_port, peer);
  if (!agreement) {
    return agreement;
  }
  if (peer.gids.size() != 1 || peer.peer_gid_choice >= own_gids.size()) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{} chose a GID that was not offered; the two ends run versions that "
                             "do not fit",
                             end_name(peer.device, peer.port, peer.host))};
  }
  use_gids(*agreement, own_gids[peer.peer_gid_choice], peer.gids.front());
  return agreement;
}

std::string describe(const Agreement& agreement) {
  return fmt::format("{} to {}, MTU {}, data class {}, control class {}, {} data lanes{}",
                     describe(agreement.local_gid), gid_text(agreement.peer_gid.gid),
                     mtu_bytes_of_code(agreement.paths.mtu_code).value_or(0),
                     describe_traffic_class(agreement.paths.data_traffic_class),
                     describe_traffic_class(agreement.paths.control_traffic_class),
                     agreement.data_lanes,
                     agreement.paths.data_peers.size() > agreement.data_lanes
                         ? fmt::format(", small messages apart with class {}",
                                       describe_traffic_class(agreement.paths.small_message_class))
                         : "");
}

}  // namespace rocelane::net
