#include "softverbs/sysfs/pci_files.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "softverbs/sysfs/device_files.h"

namespace rocelane::softverbs {
namespace {

constexpr std::string_view kDevices = "/sys/devices/";

// Nobody's number: a program that knows a NIC by its vendor must not take this one for it.
constexpr const char* kVendor = "0xfffe";
constexpr const char* kNicClass = "0x020000";
constexpr const char* kBridgeClass = "0x060400";
constexpr const char* kLinkSpeed = "32.0 GT/s PCIe";
constexpr const char* kLinkWidth = "16";

std::string last_component(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string below_root(const std::string& path) { return path.substr(1); }

// As the kernel prints a mask of CPUs: words of 32 bits, the highest first.
std::string cpu_mask(int cpus) {
  std::string text;
  for (int word = (cpus - 1) / 32; word >= 0; --word) {
    const int ones = std::min(32, cpus - 32 * word);
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",",
                        static_cast<uint32_t>((uint64_t{1} << ones) - 1));
  }
  return text;
}

std::vector<Child> attributes(const char* pci_class, const char* device, int cpus) {
  return {
      line("class", pci_class),
      line("vendor", kVendor),
      line("device", device),
      line("subsystem_vendor", kVendor),
      line("subsystem_device", "0x0001"),
      line("revision", "0x00"),
      line("enable", "1"),
      line("numa_node", "0"),
      line("local_cpus", cpu_mask(cpus)),
      line("local_cpulist", cpus == 1 ? "0" : fmt::format("0-{}", cpus - 1)),
      line("max_link_speed", kLinkSpeed),
      line("max_link_width", kLinkWidth),
      line("current_link_speed", kLinkSpeed),
      line("current_link_width", kLinkWidth),
  };
}

using Numbered = std::pair<size_t, VisibleDevice>;

Directory network_interfaces(const Source& source, const std::vector<Numbered>& devices) {
  std::set<std::string> names;
  for (const auto& [number, device] : devices) {
    for (const GidDescription& gid : source.port(number).gids) {
      names.insert(gid.interface);
    }
  }
  Directory result;
  for (const std::string& name : names) {
    if (!name.empty()) {
      result.children.push_back(link(name, "/sys/class/net/" + name));
    }
  }
  return result;
}

// `devices`: all at this place; those of several hosts are, where one process sees them all.
Directory place_on_the_bus(const Source& source, const std::vector<Numbered>& devices, int cpus) {
  Directory result{attributes(kNicClass, "0x0001", cpus)};
  std::vector<Child> infiniband, verbs;
  for (const Numbered& numbered : devices) {
    const auto& [number, device] = numbered;
    infiniband.push_back(directory(device.name, [&source, numbered] {
      return infiniband_files(source, numbered.second, numbered.first);
    }));
    verbs.push_back(directory(
        uverbs_name(number), [numbered] { return uverbs_files(numbered.second, numbered.first); }));
  }
  result.children.push_back(
      directory("infiniband", [infiniband] { return directory_of_paths(infiniband, false); }));
  result.children.push_back(directory("infiniband_verbs", [verbs] { return Directory{verbs}; }));
  result.children.push_back(
      directory("net", [&source, devices] { return network_interfaces(source, devices); }));
  result.children.push_back(link("subsystem", "/sys/bus/pci"));
  return result;
}

// The port of the root above a device, and the other ways to the two.
std::vector<Child> way_to(const std::string& pci_path, int cpus) {
  const std::string bridge = parent_of(pci_path);
  const std::string device = last_component(pci_path);
  const std::string bus = device.substr(0, device.rfind(':'));
  std::vector<Child> result;
  for (Child& attribute : attributes(kBridgeClass, "0x0002", cpus)) {
    attribute.name = below_root(bridge) + "/" + attribute.name;
    result.push_back(std::move(attribute));
  }
  result.push_back(directory(below_root(bridge) + "/pci_bus/" + bus, [bridge] {
    return Directory{{link("bridge", bridge), link("subsystem", "/sys/class/pci_bus")}};
  }));
  result.push_back(link("sys/class/pci_bus/" + bus, bridge + "/pci_bus/" + bus));
  result.push_back(link("sys/bus/pci/devices/" + device, pci_path));
  return result;
}

}  // namespace

std::vector<Child> pci_files(const Source& source, const std::vector<VisibleDevice>& devices,
                             int cpus) {
  std::map<std::string, std::vector<Numbered>> places;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].description->pci_path.starts_with(kDevices)) {
      places[devices[i].description->pci_path].emplace_back(i, devices[i]);
    }
  }
  std::vector<Child> result;
  for (const auto& [path, here] : places) {
    result.push_back(directory(
        below_root(path), [&source, here, cpus] { return place_on_the_bus(source, here, cpus); }));
    for (Child& child : way_to(path, cpus)) {
      result.push_back(std::move(child));
    }
  }
  return result;
}

}  // namespace rocelane::softverbs
