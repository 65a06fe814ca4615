#include "softverbs/description/default_device.h"

#include <algorithm>

#include <fmt/format.h>

namespace rocelane::softverbs {
namespace {

// The EUI-64 of the MAC address 02:52:4f:<host>:<host>:<rail>; the bit for "local" is inverted in
// it.
uint64_t guid_of(int host, int rail) {
  constexpr uint64_t kPrefix = 0x00524FFFFE000000;
  return kPrefix | static_cast<uint64_t>(host) << 8 | static_cast<uint64_t>(rail);
}

Gid link_local_gid(uint64_t guid) {
  Gid gid{0xFE, 0x80};
  for (size_t i = 0; i < 8; ++i) {
    gid[15 - i] = static_cast<uint8_t>(guid >> (8 * i));
  }
  return gid;
}

Gid ipv4_gid(int host, int rail) {
  Gid gid{};
  std::copy(kIpv4Mapped.begin(), kIpv4Mapped.end(), gid.begin());
  gid[12] = 10;
  gid[13] = static_cast<uint8_t>(8 + rail);
  gid[14] = static_cast<uint8_t>(host >> 8);
  gid[15] = static_cast<uint8_t>(host);
  return gid;
}

}  // namespace

std::vector<GidDescription> default_gids(int host, int rail) {
  const Gid link_local = link_local_gid(guid_of(host, rail));
  const Gid ipv4 = ipv4_gid(host, rail);
  return {{0, link_local, false, "lo"},
          {1, link_local, true, "lo"},
          {2, ipv4, false, "lo"},
          {3, ipv4, true, "lo"}};
}

DeviceDescription default_device(int host, int rail, const std::string& prefix) {
  constexpr int kFirstBus = 0x41;
  DeviceDescription device;
  device.host = host;
  device.rail = rail;
  device.name = fmt::format("{}{}", prefix, rail);
  device.pci_path = fmt::format("/sys/devices/pci0000:00/0000:00:{:02x}.0/0000:{:02x}:00.0",
                                rail + 1, kFirstBus + rail);
  device.guid = guid_of(host, rail);
  device.gids = default_gids(host, rail);
  return device;
}

}  // namespace rocelane::softverbs
