#include "net/device/socket_interface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

InterfaceAddress up(std::string name, std::string_view address) {
  const bool loopback = name == "lo";
  return {std::move(name), gid_of(address), 2, true, loopback};
}

std::string chosen(const std::vector<InterfaceAddress>& addresses,
                   const Environment& environment = {}) {
  const auto result = choose_socket_interface(addresses, settings_with(environment));
  return result.ok() ? result->name + " " + address_text(result->address) : result.error().what;
}

TEST(SocketInterface, IsTheFirstRealOneWithARoutableAddress) {
  EXPECT_EQ(chosen({up("lo", "127.0.0.1"), up("docker0", "172.17.0.1"), up("eth0", "10.0.0.5"),
                    up("eth1", "10.1.0.5")}),
            "eth0 10.0.0.5");
}

TEST(SocketInterface, PrefersIpv4AndReachOverOrder) {
  EXPECT_EQ(chosen({up("eth0", "fe80::1"), up("eth0", "fd00::1"), up("eth1", "10.1.0.5")}),
            "eth1 10.1.0.5");
  EXPECT_EQ(chosen({up("eth0", "fe80::1"), up("eth1", "fd00::1")}), "eth1 fd00::1");
  EXPECT_EQ(chosen({up("eth0", "169.254.0.1"), up("eth1", "fd00::1")}), "eth1 fd00::1");
}

TEST(SocketInterface, MayBeVirtualOrLoopbackWhenThereIsNothingElse) {
  EXPECT_EQ(chosen({up("lo", "127.0.0.1"), up("veth3", "10.0.0.1")}), "veth3 10.0.0.1");
  EXPECT_EQ(chosen({up("lo", "::1"), up("lo", "127.0.0.1")}), "lo 127.0.0.1");
}

TEST(SocketInterface, IsNeverOneThatIsDownOrWithoutAddress) {
  InterfaceAddress down = up("eth0", "10.0.0.5");
  down.running = false;
  EXPECT_EQ(chosen({down, up("eth1", "0.0.0.0"), up("eth2", "10.0.0.7")}), "eth2 10.0.0.7");
}

TEST(SocketInterface, ObeysTheList) {
  const std::vector<InterfaceAddress> addresses{up("lo", "127.0.0.1"), up("eth0", "10.0.0.5"),
                                                up("eth01", "10.0.0.6"), up("mgmt0", "10.9.0.1")};
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_IFNAME", "mgmt"}}), "mgmt0 10.9.0.1");
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_IFNAME", "=eth01"}}), "eth01 10.0.0.6");
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_IFNAME", "^eth"}}), "mgmt0 10.9.0.1");
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_IFNAME", "^=eth0"}}), "eth01 10.0.0.6");
  EXPECT_EQ(chosen(addresses, {{"ROCELANE_SOCKET_INTERFACE", "lo"}}), "lo 127.0.0.1");
}

TEST(SocketInterface, ObeysTheFamily) {
  const std::vector<InterfaceAddress> addresses{up("eth0", "10.0.0.5"), up("eth0", "fd00::5")};
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}), "eth0 fd00::5");
  EXPECT_EQ(chosen(addresses, {{"NCCL_SOCKET_FAMILY", "AF_INET"}}), "eth0 10.0.0.5");
}

TEST(SocketInterface, IsThePhysicalFunctionAmongManyWithoutAddresses) {
  EXPECT_EQ(
      chosen({up("lo", "127.0.0.1"), up("pf0", "192.0.2.89"), up("cilium_host", "198.51.100.95")},
             {{"NCCL_SOCKET_IFNAME", "^ibs,ibp,lo,docker,veth,cilium,lxc"}}),
      "pf0 192.0.2.89");
}

TEST(SocketInterface, ListsEveryAddressWhenNoneFits) {
  InterfaceAddress down = up("eth1", "10.0.0.6");
  down.running = false;
  EXPECT_EQ(chosen({up("eth0", "10.0.0.5"), down}, {{"NCCL_SOCKET_IFNAME", "ens"}}),
            "NCCL_SOCKET_IFNAME=ens leaves no address for setting up connections; correct or unset "
            "it, this host has: eth0 10.0.0.5, eth1 10.0.0.6 (down)");
  EXPECT_THAT(chosen({}), AllOf(StartsWith("no network interface is up"), HasSubstr("none")));
}

TEST(SocketInterface, RefusesNumbersInTheList) {
  EXPECT_THAT(chosen({up("eth0", "10.0.0.5")}, {{"NCCL_SOCKET_IFNAME", "eth0:1"}}),
              HasSubstr("this list holds names only"));
}

}  // namespace
}  // namespace rocelane::net
