#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace rocelane::net {

// An IPv4 or IPv6 endpoint as plain data. `address` holds 4 or 16 bytes in network order.
struct SocketAddress {
  bool ipv6 = false;
  std::array<uint8_t, 16> address{};
  uint32_t scope = 0;  // interface of an IPv6 link-local address; has a meaning on one host only
  uint16_t port = 0;   // host order
};

struct NativeSocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
NativeSocketAddress to_native(const SocketAddress& address);
SocketAddress from_native(const sockaddr_storage& storage);

// fe80::/10
inline bool is_link_local(const SocketAddress& address) {
  return address.ipv6 && address.address[0] == 0xfe && (address.address[1] & 0xc0) == 0x80;
}

// "10.0.0.1:4791", "[fe80::1]:4791"
std::string to_text(const SocketAddress& address);

}  // namespace rocelane::net
