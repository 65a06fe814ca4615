#include "softverbs/description/read_gid.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

#include "softverbs/description/default_device.h"

namespace rocelane::softverbs {
namespace {

constexpr std::array<Word<bool>, 2> kGidTypes{{{"v1", false}, {"v2", true}}};

}  // namespace

std::optional<Gid> parse_gid(const std::string& address) {
  Gid gid{};
  if (inet_pton(AF_INET6, address.c_str(), gid.data()) == 1) {
    return gid;
  }
  std::copy(kIpv4Mapped.begin(), kIpv4Mapped.end(), gid.begin());
  if (inet_pton(AF_INET, address.c_str(), gid.data() + kIpv4Mapped.size()) == 1) {
    return gid;
  }
  return std::nullopt;
}

std::optional<GidDescription> read_gid(TableReader table) {
  constexpr size_t kLongestInterface = 15;
  const std::optional<int> index = table.integer<int>("index", 0, kMostGids - 1);
  const std::optional<std::string> address = table.text("address");
  const bool roce_v2 = table.one_of<bool>("type", kGidTypes).value_or(true);
  const std::string interface = table.text("interface").value_or("lo");
  table.refuse_other_keys();
  if (!table.has("index")) {
    table.refuse("index", "missing", "the entry's place in the GID table, for example index = 4");
  }
  if (!table.has("address")) {
    table.refuse("address", "missing",
                 "an IPv6 or IPv4 address, for example address = \"fe80::1\"");
  }
  const std::optional<Gid> gid = parse_gid(address.value_or("::"));
  if (!gid) {
    table.refuse("address", quoted(*address) + " is no address",
                 "an IPv6 or IPv4 address, for example \"fe80::1\" or \"10.8.0.1\"");
  }
  if (interface.size() > kLongestInterface) {
    table.refuse("interface", quoted(interface) + " is too long",
                 "the name of a network interface, for example \"eth0\", or \"\" for one of "
                 "another network namespace");
  }
  if (!index || !gid) {
    return std::nullopt;
  }
  return GidDescription{*index, *gid, roce_v2, interface};
}

}  // namespace rocelane::softverbs
