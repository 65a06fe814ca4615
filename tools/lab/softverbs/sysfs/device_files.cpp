#include "softverbs/sysfs/device_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "softverbs/sysfs/counter_files.h"
#include "softverbs/sysfs/port_rate.h"

namespace rocelane::softverbs {
namespace {

std::string guid_text(uint64_t guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, (guid >> 32) & 0xffff,
                     (guid >> 16) & 0xffff, guid & 0xffff);
}

std::string gid_text(const Gid& gid) {
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

const GidDescription* gid_at(const PortFacts& port, int index) {
  const auto found = std::ranges::find(port.gids, index, &GidDescription::index);
  return found != port.gids.end() ? &*found : nullptr;
}

// A slot nobody uses is all zeros, and its attributes open but cannot be read.
File gid_file(const PortFacts& port, int index) {
  const GidDescription* gid = gid_at(port, index);
  return {gid_text(gid != nullptr ? gid->gid : Gid{}) + "\n", 0};
}

File gid_type_file(const PortFacts& port, int index) {
  const GidDescription* gid = gid_at(port, index);
  if (gid == nullptr) {
    return {"", EINVAL};
  }
  return {gid->roce_v2 ? "RoCE v2\n" : "IB/RoCE v1\n", 0};
}

File gid_interface_file(const PortFacts& port, int index) {
  const GidDescription* gid = gid_at(port, index);
  if (gid == nullptr || gid->interface.empty()) {
    return {"", EINVAL};
  }
  return {gid->interface + "\n", 0};
}

using GidFile = File (*)(const PortFacts& port, int index);

Child gid_directory(std::string name, const Source& source, size_t number, GidFile show) {
  return directory(std::move(name), [&source, number, show] {
    Directory result;
    const PortFacts port = source.port(number);
    for (int index = 0; index < port.gid_slots; ++index) {
      result.children.push_back(
          file(std::to_string(index), [port, index, show] { return show(port, index); }));
    }
    return result;
  });
}

Directory gid_attribute_files(const Source& source, size_t number) {
  return {{gid_directory("types", source, number, gid_type_file),
           gid_directory("ndevs", source, number, gid_interface_file)}};
}

Directory port_files(const Source& source, const VisibleDevice& device, size_t number) {
  const bool up = source.port(number).up;
  return {{
      line("state", up ? "4: ACTIVE" : "1: DOWN"),
      line("phys_state", up ? "5: LinkUp" : "2: Polling"),
      line("rate", port_rate(device.description->rate_bits_per_s).text()),
      line("link_layer", "Ethernet"),
      line("lid", "0x0"),
      line("lid_mask_count", "0"),
      line("sm_lid", "0x0"),
      line("sm_sl", "0"),
      line("cap_mask", "0x04010000"),
      directory("pkeys", [] { return Directory{{line("0", "0xffff")}}; }),
      gid_directory("gids", source, number, gid_file),
      directory("gid_attrs", [&source, number] { return gid_attribute_files(source, number); }),
      directory("counters", [&source, number] { return counter_files(source.counters(number)); }),
      directory("hw_counters",
                [&source, number] { return hardware_counter_files(source.counters(number)); }),
  }};
}

}  // namespace

std::string infiniband_path(const VisibleDevice& device) {
  return device.description->pci_path + "/infiniband/" + device.name;
}

std::string uverbs_name(size_t number) { return fmt::format("uverbs{}", number); }

std::string uverbs_path(const VisibleDevice& device, size_t number) {
  return device.description->pci_path + "/infiniband_verbs/" + uverbs_name(number);
}

Directory infiniband_files(const Source& source, const VisibleDevice& device, size_t number) {
  const std::string guid = guid_text(device.description->guid);
  return {{
      line("node_type", "1: CA"),
      line("node_guid", guid),
      line("sys_image_guid", guid),
      line("node_desc", device.description->full_name()),
      line("fw_ver", "1.0.softverbs"),
      line("hw_rev", "1"),
      line("hca_type", "softverbs"),
      line("board_id", "softverbs"),
      line("uevent", "NAME=" + device.name),
      link("device", device.description->pci_path),
      link("subsystem", "/sys/class/infiniband"),
      directory("ports",
                [&source, device, number] {
                  return Directory{{directory("1", [&source, device, number] {
                    return port_files(source, device, number);
                  })}};
                }),
  }};
}

Directory uverbs_files(const VisibleDevice& device, size_t number) {
  return {{
      line("ibdev", device.name),
      line("abi_version", "1"),
      line("dev", fmt::format("231:{}", 192 + number)),
      line("uevent", fmt::format("DEVNAME=infiniband/{}", uverbs_name(number))),
      link("device", device.description->pci_path),
      link("subsystem", "/sys/class/infiniband_verbs"),
  }};
}

}  // namespace rocelane::softverbs
