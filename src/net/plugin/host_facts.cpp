#include "net/plugin/host_facts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "verbs/errors.h"

namespace rocelane::net {
namespace {

constexpr std::array<uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown-host";
  }
  return name.data();
}

Result<std::vector<InterfaceAddress>> interface_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return verbs::call_failed("getifaddrs", "this host", errno);
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) {
      continue;
    }
    InterfaceAddress address;
    address.name = entry->ifa_name;
    address.running = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    address.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    address.interface_index = if_nametoindex(entry->ifa_name);
    if (entry->ifa_addr->sa_family == AF_INET) {
      sockaddr_in in4{};
      std::memcpy(&in4, entry->ifa_addr, sizeof(in4));
      std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.address.begin());
      std::memcpy(address.address.data() + kMappedPrefix.size(), &in4.sin_addr,
                  sizeof(in4.sin_addr));
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 in6{};
      std::memcpy(&in6, entry->ifa_addr, sizeof(in6));
      std::memcpy(address.address.data(), &in6.sin6_addr, sizeof(in6.sin6_addr));
    } else {
      continue;
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

SocketAddress socket_address_of(const InterfaceAddress& address) {
  SocketAddress result;
  result.ipv6 = !std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.address.begin());
  if (result.ipv6) {
    std::copy(address.address.begin(), address.address.end(), result.address.begin());
    result.scope = is_link_local(result) ? address.interface_index : 0;
  } else {
    std::copy(address.address.begin() + kMappedPrefix.size(), address.address.end(),
              result.address.begin());
  }
  return result;
}

bool peer_memory_is_loaded() {
  constexpr std::array kSigns{"/sys/kernel/mm/memory_peers/nv_mem/version",
                              "/sys/kernel/mm/memory_peers/nv_mem_nc/version",
                              "/sys/module/nvidia_peermem/version"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [](const char* path) { return access(path, F_OK) == 0; });
}

}  // namespace rocelane::net
