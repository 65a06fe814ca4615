#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocelane {

enum class AddressFamily : uint8_t { kAny, kIpv4, kIpv6 };

// An IPv6 address in network byte order, or an IPv4 one mapped into it (::ffff:a.b.c.d): the form a
// GID has.
using IpAddress = std::array<uint8_t, 16>;

bool is_ipv4(const IpAddress& address);
std::string address_text(const IpAddress& address);  // "10.0.0.1" or "fd00::1"
std::optional<IpAddress> parse_address(std::string_view text);

struct AddressRange {
  IpAddress prefix{};
  int bits = 0;  // of the 128, also for IPv4: 10.0.0.0/8 has 104
  bool operator==(const AddressRange&) const = default;
};

// "10.0.0.0/8", "fd00::/8". Bits right of the prefix are cleared. Nothing when the text is not a
// range.
std::optional<AddressRange> parse_address_range(std::string_view text);
std::string range_text(const AddressRange& range);
AddressFamily family_of(const AddressRange& range);
bool contains(const AddressRange& range, const IpAddress& address);

}  // namespace rocelane
