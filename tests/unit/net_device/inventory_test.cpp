#include "net/device/inventory.h"

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

PortFacts on_card(std::string device_name, std::string pci_path, int port = 1) {
  PortFacts facts = port_with({entry(3, "10.0.0.1", 2)}, std::move(device_name), port);
  facts.pci_path = std::move(pci_path);
  facts.system_image_guid = 0x1122330003f30001;
  return facts;
}

Inventory taken(std::vector<PortFacts> found, const Environment& environment = {},
                std::vector<LeftOutPort> unopened = {}) {
  Result<Inventory> inventory =
      take_inventory(std::move(found), std::move(unopened), settings_with(environment));
  EXPECT_TRUE(inventory.ok()) << (inventory.ok() ? "" : inventory.error().what);
  return inventory.ok() ? *inventory : Inventory{};
}

Error refused(std::vector<PortFacts> found, const Environment& environment = {},
              std::vector<LeftOutPort> unopened = {}) {
  Result<Inventory> inventory =
      take_inventory(std::move(found), std::move(unopened), settings_with(environment));
  EXPECT_FALSE(inventory.ok());
  return inventory.ok() ? Error{} : inventory.error();
}

std::vector<std::string> names_of(const Inventory& inventory) {
  std::vector<std::string> names;
  for (const UsablePort& port : inventory.ports) {
    names.push_back(port.name);
  }
  return names;
}

TEST(Inventory, IsInTheOrderOfSlotsWhateverTheKernelSays) {
  std::vector<PortFacts> found{on_card("mlx5_10", "/sys/a"), on_card("mlx5_2", "/sys/a"),
                               on_card("mlx5_0", "/sys/b")};
  std::mt19937 chance(1);
  for (int i = 0; i < 6; ++i) {
    std::shuffle(found.begin(), found.end(), chance);
    EXPECT_THAT(names_of(taken(found)), ElementsAre("mlx5_2", "mlx5_10", "mlx5_0"));
  }
}

TEST(Inventory, NamesPortsOfOneDeviceApart) {
  const Inventory inventory = taken({on_card("mlx5_0", "", 2), on_card("mlx5_0", "", 1)});
  EXPECT_THAT(names_of(inventory), ElementsAre("mlx5_0:1", "mlx5_0:2"));
}

TEST(Inventory, KeepsNamesAndNumbersWhenAPortIsDown) {
  PortFacts down = on_card("mlx5_0", "", 1);
  down.active = false;
  const Inventory inventory = taken({down, on_card("mlx5_0", "", 2)});
  ASSERT_THAT(names_of(inventory), ElementsAre("mlx5_0:2"));
  EXPECT_EQ(inventory.ports.front().number_on_card, 2);
}

TEST(Inventory, NumbersTwoFunctionsOfOneCardApart) {
  const Inventory inventory =
      taken({on_card("mlx5_0", "/sys/0009:03:00.0"), on_card("mlx5_1", "/sys/0009:03:00.0")});
  ASSERT_EQ(inventory.ports.size(), 2u);
  EXPECT_EQ(inventory.ports[0].guid, inventory.ports[1].guid);
  EXPECT_EQ(inventory.ports[0].number_on_card, 1);
  EXPECT_EQ(inventory.ports[1].number_on_card, 2);
}

TEST(Inventory, GivesDevicesWithoutAGuidOneOfTheirOwn) {
  PortFacts one = on_card("rxe0", "");
  PortFacts other = on_card("rxe1", "");
  one.system_image_guid = 0;
  other.system_image_guid = 0;
  const Inventory first = taken({one, other});
  const Inventory second = taken({other, one});
  ASSERT_EQ(first.ports.size(), 2u);
  EXPECT_NE(first.ports[0].guid, 0u);
  EXPECT_NE(first.ports[0].guid, first.ports[1].guid);
  EXPECT_EQ(first.ports[0].guid, second.ports[0].guid);
}

TEST(Inventory, SaysWhyEachPortIsLeftOut) {
  PortFacts down = on_card("mlx5_1", "/sys/b");
  down.active = false;
  PortFacts infiniband = on_card("mlx5_2", "/sys/c");
  infiniband.ethernet = false;
  PortFacts without_gid = on_card("mlx5_3", "/sys/d");
  without_gid.gids.clear();
  const Inventory inventory = taken(
      {on_card("mlx5_0", "/sys/a"), down, infiniband, without_gid, on_card("bnxt0", "/sys/e")},
      {{"NCCL_IB_HCA", "^bnxt"}}, {{"erdma_1", 0, "opening it failed: not permitted"}});
  EXPECT_EQ(
      describe(inventory),
      "1 port: mlx5_0 (400 Gb/s, RoCE v2 10.0.0.1 (index 3, eth1)); left out: erdma_1: opening "
      "it failed: not permitted; mlx5_1:1: the link is down; mlx5_2:1: an InfiniBand port, and "
      "Rocelane speaks RoCE only; mlx5_3:1: its GID table is empty, as in a container without "
      "an RDMA network interface; give the interface an address, or attach it to the "
      "container; bnxt0:1: not selected by NCCL_IB_HCA=^bnxt");
}

TEST(Inventory, CautionsAboutADeviceThatCouldNotBeOpened) {
  EXPECT_THAT(taken({on_card("mlx5_0", "")}, {}, {{"mlx5_1", 0, "not permitted"}}).cautions,
              ElementsAre("mlx5_1 is left out: not permitted"));
  EXPECT_THAT(taken({on_card("mlx5_0", "")}, {{"ROCELANE_DEVICES", "mlx5_0"}},
                    {{"mlx5_1", 0, "not permitted"}})
                  .cautions,
              IsEmpty());
}

TEST(Inventory, CautionsAboutWhatAListNamesAndDoesNotGet) {
  PortFacts down = on_card("mlx5_1", "/sys/b");
  down.active = false;
  EXPECT_THAT(
      taken({on_card("mlx5_0", "/sys/a"), down}, {{"NCCL_IB_HCA", "=mlx5_0,mlx5_1,mlx5_7:2"}})
          .cautions,
      ElementsAre("mlx5_1:1 is left out although NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_7:2 names "
                  "it: the link is down",
                  "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_7:2 names mlx5_7:2, which is not here"));
}

TEST(Inventory, DoesNotCautionAboutAPortThatIsDownUnasked) {
  PortFacts down = on_card("mlx5_1", "/sys/b");
  down.active = false;
  EXPECT_THAT(taken({on_card("mlx5_0", "/sys/a"), down}).cautions, IsEmpty());
}

TEST(Inventory, CautionsAboutGidsThatDoNotReachFar) {
  EXPECT_THAT(
      taken({port_with({entry(1, "fe80::1", 2)})}).cautions,
      ElementsAre(HasSubstr("RoCE v2 fe80::1 (index 1, eth1), which reaches hosts of the same")));
  EXPECT_THAT(taken({port_with({entry(2, "10.0.0.1", 1)})}).cautions,
              ElementsAre(HasSubstr("use RoCE v2")));
  EXPECT_THAT(taken({port_with({entry(3, "10.0.0.1", 2, "")})}).cautions,
              ElementsAre(HasSubstr("not in this network namespace")));
}

TEST(Inventory, AssumesASpeedWhenNoneIsKnownAndSaysSo) {
  PortFacts port = on_card("mlx5_0", "");
  port.speed_mbps = 0;
  const Inventory inventory = taken({port});
  ASSERT_EQ(inventory.ports.size(), 1u);
  EXPECT_EQ(inventory.ports.front().speed_mbps, 10'000);
  EXPECT_THAT(inventory.cautions,
              ElementsAre("the speed of mlx5_0 is unknown and taken as 10 Gb/s"));
}

TEST(Inventory, TakesRailAndPlaneFromTheList) {
  const Inventory inventory = taken({on_card("mlx5_0", "")}, {{"NCCL_IB_HCA", "mlx5_0:1:4:2"}});
  ASSERT_EQ(inventory.ports.size(), 1u);
  EXPECT_EQ(inventory.ports.front().rail, 4);
  EXPECT_EQ(inventory.ports.front().plane, 2);
}

TEST(Inventory, LeavesOutOnlyThePortAPinnedIndexDoesNotFit) {
  PortFacts other = on_card("mlx5_1", "/sys/b");
  other.gids = {entry(5, "10.0.0.2", 2)};
  const Inventory inventory =
      taken({on_card("mlx5_0", "/sys/a"), other}, {{"NCCL_IB_GID_INDEX", "3"}});
  EXPECT_THAT(names_of(inventory), ElementsAre("mlx5_0"));
  ASSERT_EQ(inventory.left_out.size(), 1u);
  EXPECT_THAT(inventory.left_out.front().reason, StartsWith("NCCL_IB_GID_INDEX=3 does not fit"));
}

TEST(EmptyInventory, ListsEveryPortWithItsReason) {
  PortFacts down = on_card("mlx5_0", "/sys/a");
  down.active = false;
  PortFacts also_down = on_card("mlx5_1", "/sys/b");
  also_down.active = false;
  const Error error = refused({down, also_down}, {}, {{"mlx5_2", 0, "opening it failed"}});
  EXPECT_EQ(error.code, ErrorCode::kSystem);
  EXPECT_EQ(error.what,
            "none of the RDMA ports here can be used: mlx5_2: opening it failed; mlx5_0:1, "
            "mlx5_1:1: the link is down");
}

TEST(EmptyInventory, SaysOnceWhatHoldsForEveryPort) {
  PortFacts one = on_card("mlx5_0", "/sys/a");
  PortFacts other = on_card("mlx5_1", "/sys/b");
  one.gids.clear();
  other.gids.clear();
  EXPECT_THAT(refused({one, other}).what,
              HasSubstr(": mlx5_0:1, mlx5_1:1: its GID table is empty"));
}

TEST(EmptyInventory, BlamesTheFilterThatSelectsNothing) {
  const Error error = refused({on_card("mlx5_0", "")}, {{"NCCL_IB_HCA", "mlx6"}});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what,
              AllOf(StartsWith("NCCL_IB_HCA=mlx6 selects none"), HasSubstr("mlx5_0:1")));
}

TEST(EmptyInventory, SaysWhatToDoWithoutAnyDevice) {
  EXPECT_THAT(refused({}).what, HasSubstr("this host shows no RDMA device; load the driver"));
}

TEST(EmptyInventory, PassesAMistakeInTheFilterOn) {
  EXPECT_THAT(refused({on_card("mlx5_0", "")}, {{"ROCELANE_DEVICES", "mlx5_0:x"}}).what,
              StartsWith("ROCELANE_DEVICES=mlx5_0:x: 'x' in 'mlx5_0:x' is not a number"));
}

}  // namespace
}  // namespace rocelane::net
