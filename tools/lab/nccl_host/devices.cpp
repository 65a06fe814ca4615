#include "nccl_host/devices.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl_host/device_properties.h"

namespace rocelane::nccl_host {

Error call_refused(const char* call, NcclResult result) {
  return {ErrorCode::kRemote, fmt::format("{} returned {}.", call, result_text(result))};
}

Result<NcclNetPropertiesV12> learn_device(Net& net, Caller& caller, int device) {
  NcclNetPropertiesV12 properties{};
  const NcclResult result =
      caller.call("getProperties", [&] { return net.properties(device, &properties); });
  if (result != kNcclSuccess) {
    return call_refused("getProperties", result);
  }
  if (const Status sound = check_properties(device, properties); !sound) {
    return sound.error();
  }
  return properties;
}

Result<Devices> learn_devices(Net& net, Caller& caller) {
  int count = 0;
  const NcclResult result = caller.call("devices", [&] { return net.devices(&count); });
  if (result != kNcclSuccess) {
    return call_refused("devices", result);
  }
  if (count < 1) {
    return Error{ErrorCode::kSystem, fmt::format("{} finds no device.", net.name())};
  }
  Devices devices;
  for (int device = 0; device < count; ++device) {
    const Result<NcclNetPropertiesV12> properties = learn_device(net, caller, device);
    if (!properties) {
      return properties.error();
    }
    devices.push_back(*properties);
  }
  return devices;
}

Result<int> find_device(const Devices& devices, const std::string& asked, int rank,
                        std::string_view net_name) {
  for (size_t device = 0; device < devices.size(); ++device) {
    if (asked == std::to_string(device) || asked == devices[device].name) {
      return static_cast<int>(device);
    }
  }
  std::vector<std::string_view> names;
  std::ranges::transform(devices, std::back_inserter(names),
                         [](const NcclNetPropertiesV12& device) { return device.name; });
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--devices names {} for rank {}, but {} has {}.", asked, rank, net_name,
                           fmt::join(names, ", "))};
}

Result<int> find_or_join(Net& net, Caller& caller, Devices& devices, const std::string& asked,
                         int rank) {
  if (asked.find('+') == std::string::npos) {
    return find_device(devices, asked, rank, net.name());
  }
  std::vector<int> members;
  std::istringstream names(asked);
  for (std::string name; std::getline(names, name, '+');) {
    const Result<int> member = find_device(devices, name, rank, net.name());
    if (!member) {
      return member;
    }
    members.push_back(*member);
  }
  int joined = -1;
  const NcclResult result =
      caller.call("makeVDevice", [&] { return net.make_virtual_device(&joined, members); });
  if (result != kNcclSuccess) {
    return call_refused("makeVDevice", result);
  }
  const Result<NcclNetPropertiesV12> properties = learn_device(net, caller, joined);
  if (!properties) {
    return properties.error();
  }
  const auto next = static_cast<int>(devices.size());
  if (joined > next || properties->vProps.ndevs != static_cast<int>(members.size())) {
    return Error{
        ErrorCode::kInternal,
        fmt::format("makeVDevice made device {} of {} members out of {}, after {} devices: "
                    "NCCL would misread it.",
                    joined, properties->vProps.ndevs, asked, next)};
  }
  if (joined == next) {
    devices.push_back(*properties);
  }
  return joined;
}

}  // namespace rocelane::nccl_host
