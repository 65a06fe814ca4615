#pragma once

// What is known about one RDMA port, as plain data. Everything that decides takes these and nothing
// else.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rocelane::net {

// Ports of one end that share a connection. NCCL joins no more.
inline constexpr size_t kMostRails = 8;

using Gid = std::array<uint8_t, 16>;  // network byte order, as on the wire

enum class GidType : uint8_t { kInfiniBand, kRoceV1, kRoceV2 };

struct GidEntry {
  Gid gid{};
  int index = 0;  // place in the port's table; never stable, so only ever a consequence of a choice
  GidType type = GidType::kRoceV2;
  uint32_t interface_index =
      0;  // netdev of the entry; 0 when it is not visible in our network namespace
  std::string interface_name;
};

struct PortFacts {
  std::string device_name;  // e.g. mlx5_0
  int port = 1;
  bool active = false;
  bool ethernet = true;
  int speed_mbps = 0;
  int active_mtu_bytes = 1024;
  uint32_t max_message_bytes = 0;
  uint64_t system_image_guid = 0;
  std::string pci_path;  // empty when the device has none (soft-RoCE)
  std::vector<GidEntry>
      gids;  // as the kernel reports them: holes skipped, foreign namespaces included
};

}  // namespace rocelane::net
