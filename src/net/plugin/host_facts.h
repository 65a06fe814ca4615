#pragma once

// What we ask this host once: its name, its interfaces, its support for GPU memory.

#include <string>
#include <vector>

#include "base/result.h"
#include "net/connection/socket_address.h"
#include "net/device/socket_interface.h"

namespace rocelane::net {

std::string host_name();
Result<std::vector<InterfaceAddress>> interface_addresses();
SocketAddress socket_address_of(const InterfaceAddress& address);
// A kernel module that lets NICs reach GPU memory by address is loaded.
bool peer_memory_is_loaded();

}  // namespace rocelane::net
