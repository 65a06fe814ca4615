#pragma once

// What a device is like when the fabric file says nothing about it. Pure; any thread.

#include <string>

#include "softverbs/description/run_description.h"

namespace rocelane::softverbs {

// `host` is 1 to kMostHosts, `rail` 0 to kMostRails - 1, see bounds.h. The name is `prefix` and the
// rail. Each rail is a subnet of its own: 10.(8 + rail).0.0/16.
DeviceDescription default_device(int host, int rail, const std::string& prefix);

// The usual table: fe80:: and the IPv4 address, each as RoCE v1 and v2. The network interface is
// "lo", which exists everywhere: programs use only GIDs whose interface they can see.
std::vector<GidDescription> default_gids(int host, int rail);

// The first 12 bytes of an IPv4 address in a GID.
constexpr std::array<uint8_t, 12> kIpv4Mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

}  // namespace rocelane::softverbs
