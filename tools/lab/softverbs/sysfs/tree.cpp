#include "softverbs/sysfs/tree.h"

#include <array>

#include "softverbs/sysfs/device_files.h"
#include "softverbs/sysfs/pci_files.h"

namespace rocelane::softverbs {
namespace {

Directory class_infiniband(const std::vector<VisibleDevice>& devices) {
  std::vector<Child> children;
  for (const VisibleDevice& device : devices) {
    children.push_back(link(device.name, infiniband_path(device)));
  }
  return directory_of_paths(std::move(children), false);
}

Directory class_infiniband_verbs(const std::vector<VisibleDevice>& devices) {
  std::vector<Child> children{line("abi_version", "6")};
  for (size_t i = 0; i < devices.size(); ++i) {
    children.push_back(link(uverbs_name(i), uverbs_path(devices[i], i)));
  }
  return directory_of_paths(std::move(children), false);
}

}  // namespace

bool may_be_device_file(std::string_view path) {
  constexpr std::array<std::string_view, 4> kBeginnings{
      "/sys/class/infiniband", "/sys/devices/pci", "/sys/class/pci_bus/", "/sys/bus/pci/devices/"};
  for (const std::string_view beginning : kBeginnings) {
    if (path.starts_with(beginning)) {
      return true;
    }
  }
  return false;
}

Directory device_files(const Source& source, int cpus) {
  const std::vector<VisibleDevice> devices = source.devices();
  std::vector<Child> paths = pci_files(source, devices, cpus);
  paths.push_back(
      directory("sys/class/infiniband", [devices] { return class_infiniband(devices); }));
  paths.push_back(directory("sys/class/infiniband_verbs",
                            [devices] { return class_infiniband_verbs(devices); }));
  return directory_of_paths(std::move(paths), true);
}

}  // namespace rocelane::softverbs
