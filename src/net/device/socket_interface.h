#pragma once

// Which interface carries the set-up TCP connection. ROCELANE_SOCKET_INTERFACE /
// NCCL_SOCKET_IFNAME: [^][=]name,…

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/settings.h"

namespace rocelane::net {

// One address of one interface, as getifaddrs lists them.
struct InterfaceAddress {
  std::string name;
  IpAddress address{};           // IPv4 in its mapped form
  uint32_t interface_index = 0;  // scope of a link-local address
  bool running = false;          // IFF_UP and IFF_RUNNING
  bool loopback = false;
};

// The first that fits, in this order: real interfaces before virtual ones of containers and bridges
// before loopback; routable before link-local addresses; IPv4 before IPv6; then as listed. A
// sentence that lists every address when none fits.
Result<InterfaceAddress> choose_socket_interface(std::span<const InterfaceAddress> addresses,
                                                 const Settings& settings);

}  // namespace rocelane::net
