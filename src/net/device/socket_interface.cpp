#include "net/device/socket_interface.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/device/gid.h"
#include "net/device/name_list.h"

namespace rocelane::net {
namespace {

// Made by container runtimes and hypervisors; their addresses mean nothing to other hosts.
constexpr std::array<std::string_view, 15> kVirtualPrefixes{
    "docker", "podman", "virbr", "veth", "br-",   "cni", "cilium", "flannel",
    "cali",   "lxc",    "lxd",   "vnet", "kube-", "tun", "tap"};

enum class Kind : uint8_t { kReal, kVirtual, kLoopback };

Kind kind_of(const InterfaceAddress& address) {
  if (address.loopback || scope_of(address.address) == GidScope::kLoopback) {
    return Kind::kLoopback;
  }
  const bool is_virtual =
      std::any_of(kVirtualPrefixes.begin(), kVirtualPrefixes.end(),
                  [&address](std::string_view prefix) { return address.name.starts_with(prefix); });
  return is_virtual ? Kind::kVirtual : Kind::kReal;
}

auto rank_of(const InterfaceAddress& address) {
  return std::tuple(kind_of(address), scope_of(address.address), is_ipv4(address.address) ? 0 : 1);
}

bool has_family(const InterfaceAddress& address, AddressFamily family) {
  return family == AddressFamily::kAny || family_of(address.address) == family;
}

bool is_selected(const NameList& list, std::string_view name) {
  return list.entries.empty() || is_listed(list, name) != list.exclude;
}

std::string list_of(std::span<const InterfaceAddress> addresses) {
  std::vector<std::string> texts;
  for (const InterfaceAddress& address : addresses) {
    texts.push_back(fmt::format("{} {}{}", address.name, address_text(address.address),
                                address.running ? "" : " (down)"));
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

Error nothing_fits(std::span<const InterfaceAddress> addresses, const Settings& settings) {
  std::vector<std::string> limits;
  for (const Setting setting : {Setting::kSocketInterface, Setting::kSocketFamily}) {
    if (is_set(settings, setting)) {
      limits.push_back(where_from(settings, setting));
    }
  }
  if (limits.empty()) {
    return {ErrorCode::kSystem,
            fmt::format("no network interface is up and has an address, which setting up "
                        "connections needs; this host has: {}",
                        list_of(addresses))};
  }
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} leaves no address for setting up connections; correct or unset it, this "
                      "host has: {}",
                      fmt::join(limits, " with "), list_of(addresses))};
}

}  // namespace

Result<InterfaceAddress> choose_socket_interface(std::span<const InterfaceAddress> addresses,
                                                 const Settings& settings) {
  const Result<NameList> list = parse_name_list(settings.socket_interface,
                                                where_from(settings, Setting::kSocketInterface), 0);
  if (!list) {
    return list.error();
  }
  const InterfaceAddress* best = nullptr;
  for (const InterfaceAddress& address : addresses) {
    const bool fits = address.running && scope_of(address.address) != GidScope::kUnusable &&
                      has_family(address, settings.socket_family) &&
                      is_selected(*list, address.name);
    if (fits && (best == nullptr || rank_of(address) < rank_of(*best))) {
      best = &address;
    }
  }
  if (best == nullptr) {
    return nothing_fits(addresses, settings);
  }
  return *best;
}

}  // namespace rocelane::net
