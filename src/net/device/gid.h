#pragma once

// What a GID is, read from its bytes.

#include <optional>
#include <string>
#include <string_view>

#include "base/settings_address.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

// How far packets from this address can travel. Private ranges (10/8, fd00::/8 ...) are routable:
// fabrics use them.
enum class GidScope : uint8_t {
  kRoutable,
  kLinkLocal,  // fe80::/64, 169.254/16: one layer-2 segment
  kLoopback,
  kUnusable,  // all zero, an interface-less fe80::, multicast
};

AddressFamily family_of(const Gid& gid);
GidScope scope_of(const Gid& gid);
int common_prefix_bits(const Gid& a, const Gid& b);

std::string gid_text(const Gid& gid);                 // "::ffff:10.0.0.1", "fe80::1"
std::optional<Gid> parse_gid(std::string_view text);  // also "10.0.0.1" and the long form of sysfs
const char* gid_type_text(GidType type);              // "RoCE v2"
std::string describe(const GidEntry& entry);          // "RoCE v2 10.8.0.1 (index 3, eth1)"

}  // namespace rocelane::net
