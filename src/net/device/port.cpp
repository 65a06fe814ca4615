#include "net/device/port.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <net/if.h>

#include "base/log.h"
#include "net/device/pci_path.h"
#include "net/device/port_speed.h"

namespace rocelane::net {
namespace {

GidType gid_type_of(uint32_t verbs_type) {
  switch (verbs_type) {
    case IBV_GID_TYPE_ROCE_V1:
      return GidType::kRoceV1;
    case IBV_GID_TYPE_ROCE_V2:
      return GidType::kRoceV2;
    default:
      return GidType::kInfiniBand;
  }
}

GidEntry gid_entry_of(const ibv_gid_entry& entry) {
  GidEntry result;
  std::copy_n(std::begin(entry.gid.raw), result.gid.size(), result.gid.begin());
  result.index = static_cast<int>(entry.gid_index);
  result.type = gid_type_of(entry.gid_type);
  std::array<char, IF_NAMESIZE> name{};
  if (entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name.data()) != nullptr) {
    result.interface_index = entry.ndev_ifindex;
    result.interface_name = name.data();
  }
  return result;
}

std::string resolved_device_path(const std::string& device_name) {
  const std::string link = fmt::format("/sys/class/infiniband/{}/device", device_name);
  const std::unique_ptr<char, void (*)(void*)> path(realpath(link.c_str(), nullptr), &std::free);
  return path != nullptr ? path.get() : "";
}

Result<PortFacts> read_port(const verbs::OpenedDevice& device, int port) {
  ibv_context* context = device.context.get();
  const auto number = static_cast<uint8_t>(port);
  auto attributes = verbs::query_port(context, number);
  if (!attributes) {
    return std::move(attributes).error();
  }
  PortFacts facts;
  facts.device_name = device.name;
  facts.port = port;
  facts.active = attributes->state == IBV_PORT_ACTIVE;
  facts.ethernet = attributes->link_layer == IBV_LINK_LAYER_ETHERNET;
  facts.speed_mbps =
      port_speed_mbps(attributes->active_width, attributes->active_speed).value_or(0);
  facts.active_mtu_bytes = 128 << static_cast<int>(attributes->active_mtu);
  facts.max_message_bytes = attributes->max_msg_sz;
  facts.system_image_guid = be64toh(device.attributes.sys_image_guid);
  facts.pci_path = card_pci_path(resolved_device_path(device.name));
  if (!facts.ethernet) {
    return facts;
  }
  auto gids = verbs::query_gid_table(context, number);
  if (!gids) {
    return std::move(gids).error();
  }
  std::transform(gids->begin(), gids->end(), std::back_inserter(facts.gids), gid_entry_of);
  return facts;
}

}  // namespace

Result<PortFacts> Port::read_facts() const {
  return read_port(device_->opened, usable_.facts.port);
}

Result<OpenedPorts> open_ports(const Settings& settings) {
  auto list = verbs::open_devices();
  if (!list) {
    return std::move(list).error();
  }
  OpenedPorts result;
  std::vector<PortFacts> found;
  std::vector<LeftOutPort> unopened;
  for (verbs::RefusedDevice& refused : list->refused) {
    unopened.push_back({std::move(refused.name), 0, std::move(refused.reason)});
  }
  for (verbs::OpenedDevice& opened : list->devices) {
    auto domain = verbs::allocate_protection_domain(opened.context.get());
    if (!domain) {
      unopened.push_back({opened.name, 0, domain.error().what});
      continue;
    }
    for (int port = 1; port <= opened.attributes.phys_port_cnt; ++port) {
      auto facts = read_port(opened, port);
      if (!facts) {
        unopened.push_back({opened.name, port, facts.error().what});
        continue;
      }
      found.push_back(std::move(*facts));
    }
    const bool dma_buf = verbs::supports_dma_buf(domain->get());
    result.devices.push_back(
        std::make_shared<Device>(Device{std::move(opened), std::move(*domain), dma_buf}));
  }
  auto inventory = take_inventory(std::move(found), std::move(unopened), settings);
  if (!inventory) {
    return std::move(inventory).error();
  }
  result.inventory = std::move(*inventory);
  for (const UsablePort& usable : result.inventory.ports) {
    const auto owner = std::find_if(
        result.devices.begin(), result.devices.end(),
        [&](const auto& device) { return device->opened.name == usable.facts.device_name; });
    result.ports.push_back(std::make_shared<Port>(*owner, usable));
  }
  return result;
}

}  // namespace rocelane::net
