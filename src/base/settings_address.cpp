#include "base/settings_address.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace rocelane {
namespace {

constexpr int kAddressBits = 128;
constexpr int kMappedPrefixBits = 96;
constexpr IpAddress kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

std::optional<int> parse_prefix_length(std::string_view text, int longest) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc{} || end != text.data() + text.size() || bits < 0 || bits > longest) {
    return std::nullopt;
  }
  return bits;
}

// The bits of byte `index` that belong to a prefix of `bits` bits.
uint8_t mask_of_byte(int bits, int index) {
  const int covered = std::clamp(bits - 8 * index, 0, 8);
  return static_cast<uint8_t>(0xff00u >> covered);
}

}  // namespace

bool is_ipv4(const IpAddress& address) {
  return std::equal(address.begin(), address.begin() + 12, kMappedPrefix.begin());
}

std::string address_text(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_ipv4(address)) {
    return inet_ntop(AF_INET, address.data() + 12, text, sizeof text) == nullptr ? "?" : text;
  }
  return inet_ntop(AF_INET6, address.data(), text, sizeof text) == nullptr ? "?" : text;
}

std::optional<IpAddress> parse_address(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string terminated(text);
  IpAddress address = kMappedPrefix;
  if (inet_pton(AF_INET, terminated.c_str(), address.data() + 12) == 1) {
    return address;
  }
  if (inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) {
    return address;
  }
  return std::nullopt;
}

std::optional<AddressRange> parse_address_range(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view address_part = text.substr(0, slash);
  const std::optional<IpAddress> address = parse_address(address_part);
  if (!address) {
    return std::nullopt;
  }
  const bool written_as_ipv4 = address_part.find(':') == std::string_view::npos;
  const int longest = written_as_ipv4 ? kAddressBits - kMappedPrefixBits : kAddressBits;
  const std::optional<int> length = parse_prefix_length(text.substr(slash + 1), longest);
  if (!length) {
    return std::nullopt;
  }
  AddressRange range{*address, *length + (written_as_ipv4 ? kMappedPrefixBits : 0)};
  for (size_t i = 0; i < range.prefix.size(); ++i) {
    range.prefix[i] &= mask_of_byte(range.bits, static_cast<int>(i));
  }
  return range;
}

std::string range_text(const AddressRange& range) {
  const int hidden = family_of(range) == AddressFamily::kIpv4 ? kMappedPrefixBits : 0;
  return fmt::format("{}/{}", address_text(range.prefix), range.bits - hidden);
}

AddressFamily family_of(const AddressRange& range) {
  return range.bits >= kMappedPrefixBits && is_ipv4(range.prefix) ? AddressFamily::kIpv4
                                                                  : AddressFamily::kIpv6;
}

bool contains(const AddressRange& range, const IpAddress& address) {
  // "::/0" means every IPv6 address, not the IPv4 ones whose mapped form happens to fall into it.
  if (is_ipv4(address) != (family_of(range) == AddressFamily::kIpv4)) {
    return false;
  }
  for (size_t i = 0; i < address.size(); ++i) {
    if ((address[i] & mask_of_byte(range.bits, static_cast<int>(i))) != range.prefix[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace rocelane
