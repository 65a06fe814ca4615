#include "net/device/gid.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace rocelane::net {
namespace {

bool all_zero(const uint8_t* first, const uint8_t* last) {
  return std::all_of(first, last, [](uint8_t byte) { return byte == 0; });
}

GidScope scope_of_ipv4(const uint8_t* address) {
  constexpr uint8_t kFirstMulticast = 224;
  if (address[0] == 0 || address[0] >= kFirstMulticast) {
    return GidScope::kUnusable;
  }
  if (address[0] == 127) {
    return GidScope::kLoopback;
  }
  return address[0] == 169 && address[1] == 254 ? GidScope::kLinkLocal : GidScope::kRoutable;
}

GidScope scope_of_ipv6(const Gid& gid) {
  if (all_zero(gid.data(), gid.data() + 15)) {
    return gid[15] == 1 ? GidScope::kLoopback : GidScope::kUnusable;
  }
  if (gid[0] == 0xff) {
    return GidScope::kUnusable;
  }
  const bool link_local = gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
  if (!link_local) {
    return GidScope::kRoutable;
  }
  // A prefix whose interface part was never filled in.
  return all_zero(gid.data() + 8, gid.data() + 16) ? GidScope::kUnusable : GidScope::kLinkLocal;
}

}  // namespace

AddressFamily family_of(const Gid& gid) {
  return is_ipv4(gid) ? AddressFamily::kIpv4 : AddressFamily::kIpv6;
}

GidScope scope_of(const Gid& gid) {
  return is_ipv4(gid) ? scope_of_ipv4(gid.data() + 12) : scope_of_ipv6(gid);
}

int common_prefix_bits(const Gid& a, const Gid& b) {
  int bits = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto difference = static_cast<uint8_t>(a[i] ^ b[i]);
    bits += std::countl_zero(difference);
    if (difference != 0) {
      break;
    }
  }
  return bits;
}

std::string gid_text(const Gid& gid) {
  return is_ipv4(gid) ? "::ffff:" + address_text(gid) : address_text(gid);
}

std::optional<Gid> parse_gid(std::string_view text) { return parse_address(text); }

const char* gid_type_text(GidType type) {
  switch (type) {
    case GidType::kInfiniBand:
      return "InfiniBand";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
  }
  return "an unknown kind of GID";
}

std::string describe(const GidEntry& entry) {
  return fmt::format("{} {} (index {}, {})", gid_type_text(entry.type), address_text(entry.gid),
                     entry.index,
                     entry.interface_name.empty() ? "no interface in this network namespace"
                                                  : entry.interface_name);
}

}  // namespace rocelane::net
