#include "net/connection/socket_address.h"

#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace rocelane::net {

NativeSocketAddress to_native(const SocketAddress& address) {
  NativeSocketAddress native;
  if (address.ipv6) {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(address.port);
    in6.sin6_scope_id = address.scope;
    std::memcpy(&in6.sin6_addr, address.address.data(), sizeof(in6.sin6_addr));
    std::memcpy(&native.storage, &in6, sizeof(in6));
    native.length = sizeof(in6);
  } else {
    sockaddr_in in4{};
    in4.sin_family = AF_INET;
    in4.sin_port = htons(address.port);
    std::memcpy(&in4.sin_addr, address.address.data(), sizeof(in4.sin_addr));
    std::memcpy(&native.storage, &in4, sizeof(in4));
    native.length = sizeof(in4);
  }
  return native;
}

SocketAddress from_native(const sockaddr_storage& storage) {
  SocketAddress address;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 in6{};
    std::memcpy(&in6, &storage, sizeof(in6));
    address.ipv6 = true;
    address.port = ntohs(in6.sin6_port);
    address.scope = in6.sin6_scope_id;
    std::memcpy(address.address.data(), &in6.sin6_addr, sizeof(in6.sin6_addr));
  } else {
    sockaddr_in in4{};
    std::memcpy(&in4, &storage, sizeof(in4));
    address.port = ntohs(in4.sin_port);
    std::memcpy(address.address.data(), &in4.sin_addr, sizeof(in4.sin_addr));
  }
  return address;
}

std::string to_text(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.ipv6 ? AF_INET6 : AF_INET, address.address.data(), text.data(), text.size());
  return address.ipv6 ? fmt::format("[{}]:{}", text.data(), address.port)
                      : fmt::format("{}:{}", text.data(), address.port);
}

}  // namespace rocelane::net
