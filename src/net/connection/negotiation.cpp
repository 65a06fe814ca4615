#include "net/connection/negotiation.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "net/device/gid.h"
#include "net/device/path_mtu.h"
#include "net/device/traffic_class.h"

namespace rocelane::net {
namespace {

// What both ends compute alike from each other's description.
Result<Agreement> agree_on_common(const EndFacts& own, std::span<const LivePort> own_ports,
                                  const EndDescription& peer) {
  const auto classes = agree_on_traffic_classes(
      own.traffic_classes, {peer.data_traffic_class, peer.control_traffic_class,
                            peer.data_class_explicit, peer.control_class_explicit});
  if (!classes) {
    return classes.error();
  }
  Agreement agreement;
  agreement.max_message_bytes = UINT32_MAX;
  for (const LivePort& port : own_ports) {
    agreement.max_message_bytes =
        std::min(agreement.max_message_bytes, port.facts.max_message_bytes);
  }
  for (const OfferedPort& port : peer.ports) {
    agreement.max_message_bytes = std::min(agreement.max_message_bytes, port.max_message_bytes);
  }
  LanePaths& paths = agreement.paths;
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

// Of this pair of ports all but the GIDs.
Result<Route> begin_route(const EndFacts& own, std::span<const LivePort> own_ports, uint8_t rail,
                          const EndDescription& peer, uint8_t peer_rail) {
  const PortFacts& local = own_ports[rail].facts;
  const OfferedPort& remote = peer.ports[peer_rail];
  const auto mtu = choose_path_mtu(
      local.active_mtu_bytes, mtu_bytes_of_code(remote.mtu).value_or(0), own.settings->mtu_bytes);
  if (!mtu) {
    return mtu.error();
  }
  Route route;
  route.rail = rail;
  route.peer_rail = peer_rail;
  route.mtu_code = static_cast<uint8_t>(mtu_code_of_bytes(*mtu).value_or(1));
  if (own_ports.size() > 1 || peer.ports.size() > 1) {
    route.ports =
        fmt::format("{}:{} to {}:{}", local.device_name, local.port, remote.device, remote.number);
  }
  return route;
}

// Every pair of ports that a lane goes over becomes a route. `choose_gids` takes the route and one
// of its lanes, and completes it or says why it cannot.
template <class ChooseGids>
Result<Agreement> agree(const EndFacts& own, std::span<const LivePort> own_ports,
                        std::span<const uint8_t> rails, const EndDescription& peer,
                        ChooseGids choose_gids) {
  auto agreement = agree_on_common(own, own_ports, peer);
  if (!agreement) {
    return agreement;
  }
  std::vector<Route>& routes = agreement->paths.routes;
  const auto go_over = [&](uint8_t rail, const LaneAddress& lane) -> Status {
    const auto known = std::find_if(routes.begin(), routes.end(), [&](const Route& route) {
      return route.rail == rail && route.peer_rail == lane.rail;
    });
    if (known != routes.end()) {
      return {};
    }
    auto route = begin_route(own, own_ports, rail, peer, lane.rail);
    if (!route) {
      return std::move(route).error();
    }
    if (Status chosen = choose_gids(*route, lane); !chosen) {
      return chosen;
    }
    routes.push_back(std::move(*route));
    return {};
  };
  Status status = go_over(rails.front(), peer.control_lane);
  for (size_t i = 0; status && i < rails.size() && i < peer.data_lanes.size(); ++i) {
    status = go_over(rails[i], peer.data_lanes[i]);
  }
  if (status && peer.small_message_class.has_value()) {
    status = go_over(rails.front(), peer.data_lanes.back());
  }
  if (!status) {
    return std::move(status).error();
  }
  return agreement;
}

std::string offered_gids_text(const std::vector<OfferedGid>& gids) {
  std::string text;
  for (const OfferedGid& offered : gids) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", gid_type_text(offered.type),
                        gid_text(offered.gid));
  }
  return text;
}

uint8_t place_of(const std::vector<GidEntry>& gids, const GidEntry& wanted) {
  const auto found = std::find_if(
      gids.begin(), gids.end(), [&](const GidEntry& entry) { return entry.index == wanted.index; });
  return static_cast<uint8_t>(found - gids.begin());
}

Error no_gids_fit(const EndFacts& own, const std::vector<GidEntry>& own_gids,
                  const EndDescription& peer, const OfferedPort& remote) {
  std::string ours;
  for (const GidEntry& entry : own_gids) {
    ours += (ours.empty() ? "" : ", ") + describe(entry);
  }
  return {ErrorCode::kInvalidArgument,
          fmt::format("no pair of GIDs fits: {} offers {}, {} has {}; give both NICs an address of "
                      "the same family in networks that reach each other",
                      end_name(peer), offered_gids_text(remote.gids), end_name(own), ours)};
}

}  // namespace

Result<Agreement> agree_as_listener(const EndFacts& own, std::span<const LivePort> own_ports,
                                    std::span<const uint8_t> rails, const EndDescription& peer) {
  auto agreement =
      agree(own, own_ports, rails, peer, [&](Route& route, const LaneAddress& /*lane*/) -> Status {
        const std::vector<GidEntry>& own_gids = own_ports[route.rail].gids;
        const OfferedPort& remote = peer.ports[route.peer_rail];
        // The dialer's order is its preference: take its first candidate that one of ours can talk
        // to.
        for (size_t i = 0; i < remote.gids.size(); ++i) {
          const auto local = choose_gid_for_peer(own_gids, remote.gids[i].gid, remote.gids[i].type);
          if (local) {
            route.local_gid = *local;
            route.local_choice = place_of(own_gids, *local);
            route.peer_gid = remote.gids[i];
            route.peer_choice = static_cast<uint8_t>(i);
            return {};
          }
        }
        return no_gids_fit(own, own_gids, peer, remote);
      });
  if (agreement) {
    agreement->receiver_ports = own_ports.size();
  }
  return agreement;
}

Result<Agreement> agree_as_dialer(const EndFacts& own, std::span<const LivePort> own_ports,
                                  std::span<const uint8_t> rails, const EndDescription& peer) {
  auto agreement =
      agree(own, own_ports, rails, peer, [&](Route& route, const LaneAddress& lane) -> Status {
        const std::vector<GidEntry>& own_gids = own_ports[route.rail].gids;
        if (lane.peer_gid >= own_gids.size()) {
          return Error{ErrorCode::kRemote,
                       fmt::format("{} chose a GID that was not offered; the two ends run versions "
                                   "that do not fit",
                                   end_name(peer))};
        }
        route.local_gid = own_gids[lane.peer_gid];
        route.local_choice = lane.peer_gid;
        route.peer_gid = peer.ports[route.peer_rail].gids[lane.gid];
        route.peer_choice = lane.gid;
        return {};
      });
  if (agreement) {
    agreement->receiver_ports = peer.ports.size();
  }
  return agreement;
}

std::string describe(const Route& route) {
  return fmt::format("{} to {}", describe(route.local_gid), gid_text(route.peer_gid.gid));
}

std::string describe(const Agreement& agreement) {
  std::string routes;
  for (const Route& route : agreement.paths.routes) {
    routes += fmt::format("{}{}, MTU {}", routes.empty() ? "" : "; ", describe(route),
                          mtu_bytes_of_code(route.mtu_code).value_or(0));
  }
  return fmt::format("{}, data class {}, control class {}, {} data lanes{}", routes,
                     describe_traffic_class(agreement.paths.data_traffic_class),
                     describe_traffic_class(agreement.paths.control_traffic_class),
                     agreement.data_lanes,
                     agreement.paths.data_peers.size() > agreement.data_lanes
                         ? fmt::format(", small messages apart with class {}",
                                       describe_traffic_class(agreement.paths.small_message_class))
                         : "");
}

}  // namespace rocelane::net
