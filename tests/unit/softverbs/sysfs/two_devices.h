#pragma once

#include <string>
#include <vector>

#include "softverbs/sysfs/source.h"

namespace rocelane::softverbs::testing {

inline Gid mapped(uint8_t last) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 8, 0, last};
}

// soft_0 on bus 0x41 with three GIDs, one of another namespace; soft_1 on bus 0x42, down.
class TwoDevices : public Source {
 public:
  TwoDevices() {
    descriptions_.resize(2);
    for (size_t rail = 0; rail < 2; ++rail) {
      DeviceDescription& device = descriptions_[rail];
      device.host = 1;
      device.rail = static_cast<int>(rail);
      device.name = "soft_" + std::to_string(rail);
      device.pci_path = std::string("/sys/devices/pci0000:f0/0000:f0:0") + (rail == 0 ? "1" : "2") +
                        ".0/0000:f" + (rail == 0 ? "1" : "2") + ":00.0";
      device.guid = 0x0200'5eff'fe00'0101 + rail;
    }
    descriptions_[1].rate_bits_per_s = 400e9;
    ports_[0] = {
        .up = true,
        .gid_slots = 8,
        .gids = {
            {2, mapped(1), false, "lo"}, {3, mapped(1), true, "lo"}, {5, mapped(9), true, ""}}};
    ports_[1] = {.up = false, .gid_slots = 8, .gids = {}};
  }

  std::vector<VisibleDevice> devices() const override {
    std::vector<VisibleDevice> result;
    for (const DeviceDescription& device : descriptions_) {
      result.push_back({prefix + device.name, &device});
    }
    return result;
  }
  PortFacts port(size_t device) const override { return ports_[device]; }
  softverbs_device_counters counters(size_t device) const override { return counters_[device]; }

  std::string prefix;
  PortFacts ports_[2];
  softverbs_device_counters counters_[2]{};
  std::vector<DeviceDescription> descriptions_;
};

}  // namespace rocelane::softverbs::testing
