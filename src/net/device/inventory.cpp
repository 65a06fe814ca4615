#include "net/device/inventory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/device/device_filter.h"
#include "net/device/gid.h"
#include "net/device/gid_selection.h"

namespace rocelane::net {
namespace {

// NCCL plans with the speed of a link and cannot do with 0.
constexpr int kAssumedSpeedMbps = 10'000;

std::string port_text(std::string_view device_name, int port) {
  return port == 0 ? std::string(device_name) : fmt::format("{}:{}", device_name, port);
}

std::string speed_text(int mbps) { return fmt::format("{:g} Gb/s", mbps / 1000.0); }

// Shorter names first, so that mlx5_2 comes before mlx5_10.
auto place_of(const PortFacts& port) {
  return std::tuple(std::string_view(port.pci_path), port.device_name.size(),
                    std::string_view(port.device_name), port.port);
}

// NCCL tells cards apart by GUID. A device without one (soft-RoCE) gets one made of its card or
// else its name, the same in every process.
uint64_t guid_of(const PortFacts& port) {
  if (port.system_image_guid != 0) {
    return port.system_image_guid;
  }
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : port.pci_path.empty() ? port.device_name : port.pci_path) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return hash | 1;
}

// Empty when the port can be used.
std::string why_left_out(const PortFacts& port, const DeviceFilter& filter,
                         const std::vector<GidEntry>& gids, const GidWishes& wishes) {
  if (!selects(filter, port.device_name, port.port)) {
    return fmt::format("not selected by {}", filter.source);
  }
  if (!port.ethernet) {
    return "an InfiniBand port, and Rocelane speaks RoCE only";
  }
  if (!port.active) {
    return "the link is down";
  }
  return gids.empty() ? why_no_gid(port, wishes) : "";
}

void caution_about_gid(const UsablePort& port, std::vector<std::string>& cautions) {
  const char* what = nullptr;
  if (port.gid.interface_index == 0) {
    what =
        "whose network interface is not in this network namespace; attach it to this container, "
        "or connections will fail";
  } else if (port.gid.type == GidType::kRoceV1) {
    what =
        "which reaches hosts of the same layer-2 segment only; give the interface an address and "
        "use RoCE v2";
  } else if (scope_of(port.gid.gid) != GidScope::kRoutable) {
    what = "which reaches hosts of the same segment only; give the interface an address";
  }
  if (what != nullptr) {
    cautions.push_back(
        fmt::format("the best GID of {} is {}, {}", port.name, describe(port.gid), what));
  }
}

void caution_about_speed(const UsablePort& port, std::vector<std::string>& cautions) {
  if (port.facts.speed_mbps <= 0) {
    cautions.push_back(fmt::format("the speed of {} is unknown and taken as {}", port.name,
                                   speed_text(kAssumedSpeedMbps)));
  }
}

// What a user would expect to be used and is not. A port that is down is only news when a list
// names it: many hosts have ports without a cable.
void caution_about_missing(const DeviceFilter& filter, const std::vector<PortFacts>& found,
                           const std::vector<LeftOutPort>& unopened, Inventory& inventory) {
  for (const LeftOutPort& port : unopened) {
    if (selects(filter, port.device_name, port.port)) {
      inventory.cautions.push_back(
          fmt::format("{} is left out: {}", port_text(port.device_name, port.port), port.reason));
    }
  }
  if (filter.exclude) {
    return;
  }
  for (const PortFacts& port : found) {
    const auto left_out = std::find_if(
        inventory.left_out.begin(), inventory.left_out.end(), [&port](const LeftOutPort& other) {
          return other.device_name == port.device_name && other.port == port.port;
        });
    if (left_out != inventory.left_out.end() &&
        matching_entry(filter, port.device_name, port.port) != nullptr) {
      inventory.cautions.push_back(fmt::format("{} is left out although {} names it: {}",
                                               port_text(port.device_name, port.port),
                                               filter.source, left_out->reason));
    }
  }
  for (const DeviceFilterEntry& entry : filter.entries) {
    const DeviceFilterEntry any_port{entry.name, {}, {}, {}};
    const bool is_here = std::any_of(found.begin(), found.end(), [&](const PortFacts& port) {
      return matches(filter, entry, port.device_name, port.port);
    });
    const bool is_unopened =
        std::any_of(unopened.begin(), unopened.end(), [&](const LeftOutPort& port) {
          return matches(filter, any_port, port.device_name, port.port);
        });
    if (!is_here && !is_unopened) {
      inventory.cautions.push_back(fmt::format("{} names {}, which is not here", filter.source,
                                               port_text(entry.name, entry.port.value_or(0))));
    }
  }
}

// Ports with the same reason share one clause.
std::string reasons_text(const std::vector<LeftOutPort>& left_out) {
  struct Clause {
    std::string_view reason;
    std::vector<std::string> ports;
  };
  std::vector<Clause> clauses;
  for (const LeftOutPort& port : left_out) {
    auto clause = std::find_if(clauses.begin(), clauses.end(), [&port](const Clause& other) {
      return other.reason == port.reason;
    });
    if (clause == clauses.end()) {
      clause = clauses.insert(clause, {port.reason, {}});
    }
    clause->ports.push_back(port_text(port.device_name, port.port));
  }
  std::string text;
  for (const Clause& clause : clauses) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", fmt::join(clause.ports, ", "),
                        clause.reason);
  }
  return text;
}

Error nothing_left(const Inventory& inventory, const std::vector<PortFacts>& found,
                   const DeviceFilter& filter) {
  if (inventory.left_out.empty()) {
    return {ErrorCode::kSystem,
            "this host shows no RDMA device; load the driver of the network card, or give the "
            "container access to /dev/infiniband"};
  }
  const bool all_filtered =
      !found.empty() && std::none_of(found.begin(), found.end(), [&filter](const PortFacts& port) {
        return selects(filter, port.device_name, port.port);
      });
  if (all_filtered) {
    return {ErrorCode::kInvalidArgument, selects_nothing(filter, found)};
  }
  return {ErrorCode::kSystem, fmt::format("none of the RDMA ports here can be used: {}",
                                          reasons_text(inventory.left_out))};
}

}  // namespace

Result<Inventory> take_inventory(std::vector<PortFacts> found, std::vector<LeftOutPort> unopened,
                                 const Settings& settings) {
  const Result<DeviceFilter> filter =
      parse_device_filter(settings.devices, where_from(settings, Setting::kDevices));
  if (!filter) {
    return filter.error();
  }
  const GidWishes wishes = gid_wishes(settings);
  std::sort(found.begin(), found.end(),
            [](const PortFacts& a, const PortFacts& b) { return place_of(a) < place_of(b); });

  Inventory inventory;
  inventory.left_out = unopened;
  // Counted over all ports, usable or not, so that a link that is down renames and renumbers
  // nothing.
  std::map<uint64_t, int> ports_with_guid;
  std::map<std::string_view, int> ports_of_device;
  for (const PortFacts& facts : found) {
    ++ports_of_device[facts.device_name];
  }
  for (const PortFacts& facts : found) {
    UsablePort port;
    port.guid = guid_of(facts);
    port.number_on_card = ++ports_with_guid[port.guid];
    const std::vector<GidEntry> gids = rank_gids(facts, wishes);
    std::string reason = why_left_out(facts, *filter, gids, wishes);
    if (!reason.empty()) {
      inventory.left_out.push_back({facts.device_name, facts.port, std::move(reason)});
      continue;
    }
    port.facts = facts;
    port.gid = gids.front();
    port.name = ports_of_device[facts.device_name] == 1 ? facts.device_name
                                                        : port_text(facts.device_name, facts.port);
    port.speed_mbps = facts.speed_mbps > 0 ? facts.speed_mbps : kAssumedSpeedMbps;
    if (const auto* entry = matching_entry(*filter, facts.device_name, facts.port)) {
      port.rail = entry->rail;
      port.plane = entry->plane;
    }
    caution_about_gid(port, inventory.cautions);
    caution_about_speed(port, inventory.cautions);
    inventory.ports.push_back(std::move(port));
  }
  if (inventory.ports.empty()) {
    return nothing_left(inventory, found, *filter);
  }
  caution_about_missing(*filter, found, unopened, inventory);
  return inventory;
}

std::string describe(const Inventory& inventory) {
  std::vector<std::string> ports;
  for (const UsablePort& port : inventory.ports) {
    ports.push_back(
        fmt::format("{} ({}, {})", port.name, speed_text(port.speed_mbps), describe(port.gid)));
  }
  std::string text = fmt::format("{} {}: {}", ports.size(), ports.size() == 1 ? "port" : "ports",
                                 fmt::join(ports, ", "));
  if (!inventory.left_out.empty()) {
    text += "; left out: " + reasons_text(inventory.left_out);
  }
  return text;
}

}  // namespace rocelane::net
