#pragma once

// Which ports we offer to NCCL, in which order and under which names.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

struct UsablePort {
  PortFacts facts;
  GidEntry gid;             // as things stand now; chosen again for every connection
  std::string name;         // unique: "mlx5_0", or "mlx5_0:2" on a device with several ports
  uint64_t guid = 0;        // never 0
  int number_on_card = 1;   // unique among ports with the same guid; what NCCL gets as port
  int speed_mbps = 0;       // never 0
  std::optional<int> rail;  // from ROCELANE_DEVICES, if given there
  std::optional<int> plane;
};

struct LeftOutPort {
  std::string device_name;
  int port = 0;        // 0: the whole device
  std::string reason;  // continues "mlx5_0:1: …"
};

struct Inventory {
  std::vector<UsablePort> ports;  // same order on every host with the same cards in the same slots
  std::vector<LeftOutPort> left_out;
  std::vector<std::string>
      cautions;  // sentences for the user's eyes, e.g. a link-local GID was the best there is
};

// `unopened`: devices that exist but could not be asked, with the reason. An error, listing every
// port with its reason, when no usable port is left.
Result<Inventory> take_inventory(std::vector<PortFacts> found, std::vector<LeftOutPort> unopened,
                                 const Settings& settings);

// "2 ports: mlx5_0 (400 Gb/s, RoCE v2 10.0.0.1 (index 3, eth1)), …; left out: mlx5_2:1: the link is
// down"
std::string describe(const Inventory& inventory);

}  // namespace rocelane::net
