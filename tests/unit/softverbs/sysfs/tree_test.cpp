#include "softverbs/sysfs/tree.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "two_devices.h"

namespace rocelane::softverbs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPlace = "/sys/devices/pci0000:f0/0000:f0:01.0/0000:f1:00.0";
constexpr const char* kPort = "/sys/class/infiniband/soft_0/ports/1/";

class Tree : public ::testing::Test {
 protected:
  Answer at(const std::string& path, bool follow_last = true) const {
    return follow(device_files(source_, 2), path, follow_last);
  }

  File file_at(const std::string& path) const {
    const Answer answer = at(path);
    const auto* found = std::get_if<Found>(&answer);
    const auto* as_file = found != nullptr ? std::get_if<File>(&found->node.is) : nullptr;
    return as_file != nullptr ? *as_file : File{"(no file)", 0};
  }
  std::string read(const std::string& path) const { return file_at(path).content; }

  std::vector<std::string> list(const std::string& path) const {
    const Answer answer = at(path);
    std::vector<std::string> names;
    if (const auto* found = std::get_if<Found>(&answer)) {
      for (const Child& child : std::get<Directory>(found->node.is).children) {
        names.push_back(child.name);
      }
    }
    return names;
  }

  std::string real_path(const std::string& path) const {
    const Answer answer = at(path);
    const auto* found = std::get_if<Found>(&answer);
    return found != nullptr ? found->path : "(nothing)";
  }

  int error_at(const std::string& path) const {
    const Answer answer = at(path);
    const auto* missing = std::get_if<Missing>(&answer);
    return missing != nullptr ? missing->error : 0;
  }

  std::string elsewhere(const std::string& path) const {
    const Answer answer = at(path);
    const auto* other = std::get_if<Elsewhere>(&answer);
    return other != nullptr ? other->path : "(ours)";
  }

  testing::TwoDevices source_;
};

TEST_F(Tree, TheClassListsTheDevicesAndTheirVerbsNodes) {
  EXPECT_THAT(list("/sys/class/infiniband"), ElementsAre("soft_0", "soft_1"));
  EXPECT_THAT(list("/sys/class/infiniband_verbs"),
              ElementsAre("abi_version", "uverbs0", "uverbs1"));
  EXPECT_EQ(read("/sys/class/infiniband_verbs/uverbs1/ibdev"), "soft_1\n");
}

TEST_F(Tree, ADeviceSaysWhatItIs) {
  EXPECT_EQ(read("/sys/class/infiniband/soft_0/node_type"), "1: CA\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_1/node_guid"), "0200:5eff:fe00:0102\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_0/board_id"), "softverbs\n");
}

TEST_F(Tree, APortSaysHowItIs) {
  EXPECT_EQ(read(std::string(kPort) + "state"), "4: ACTIVE\n");
  EXPECT_EQ(read(std::string(kPort) + "rate"), "100 Gb/sec (4X EDR)\n");
  EXPECT_EQ(read(std::string(kPort) + "link_layer"), "Ethernet\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_1/ports/1/state"), "1: DOWN\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_1/ports/1/phys_state"), "2: Polling\n");
  EXPECT_EQ(error_at("/sys/class/infiniband/soft_0/ports/2/state"), ENOENT);
}

TEST_F(Tree, WhatChangesIsReadAnewEachTime) {
  source_.ports_[0].up = false;
  EXPECT_EQ(read(std::string(kPort) + "state"), "1: DOWN\n");
  source_.ports_[0].gids.clear();
  EXPECT_EQ(file_at(std::string(kPort) + "gid_attrs/types/3").read_error, EINVAL);
}

TEST_F(Tree, GidsHaveTypesAndInterfaces) {
  EXPECT_EQ(read(std::string(kPort) + "gids/3"), "0000:0000:0000:0000:0000:ffff:0a08:0001\n");
  EXPECT_EQ(read(std::string(kPort) + "gid_attrs/types/2"), "IB/RoCE v1\n");
  EXPECT_EQ(read(std::string(kPort) + "gid_attrs/types/3"), "RoCE v2\n");
  EXPECT_EQ(read(std::string(kPort) + "gid_attrs/ndevs/3"), "lo\n");
}

TEST_F(Tree, AnEmptyGidSlotIsZeroAndItsAttributesCannotBeRead) {
  EXPECT_EQ(read(std::string(kPort) + "gids/0"), "0000:0000:0000:0000:0000:0000:0000:0000\n");
  EXPECT_EQ(file_at(std::string(kPort) + "gid_attrs/types/0").read_error, EINVAL);
  EXPECT_EQ(file_at(std::string(kPort) + "gid_attrs/ndevs/0").read_error, EINVAL);
  EXPECT_EQ(error_at(std::string(kPort) + "gids/8"), ENOENT);
}

TEST_F(Tree, TheInterfaceOfAnotherNamespaceCannotBeRead) {
  EXPECT_EQ(read(std::string(kPort) + "gid_attrs/types/5"), "RoCE v2\n");
  EXPECT_EQ(file_at(std::string(kPort) + "gid_attrs/ndevs/5").read_error, EINVAL);
}

TEST_F(Tree, CountersAreTheDevices) {
  source_.counters_[0].sent_bytes_by_traffic_class[106] = 4000;
  source_.counters_[0].sent_bytes_by_traffic_class[192] = 400;
  source_.counters_[0].out_of_sequence = 7;
  source_.counters_[0].queue_pairs.retransmissions = 3;
  EXPECT_EQ(read(std::string(kPort) + "counters/port_xmit_data"), "1100\n");
  EXPECT_EQ(read(std::string(kPort) + "hw_counters/out_of_sequence"), "7\n");
  EXPECT_EQ(read(std::string(kPort) + "hw_counters/local_ack_timeout_err"), "3\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_1/ports/1/hw_counters/out_of_sequence"), "0\n");
}

TEST_F(Tree, LinksLeadToThePlaceOnTheBus) {
  EXPECT_EQ(real_path("/sys/class/infiniband/soft_0/device"), kPlace);
  EXPECT_EQ(real_path("/sys/class/infiniband/soft_0"), std::string(kPlace) + "/infiniband/soft_0");
  EXPECT_EQ(real_path("/sys/class/pci_bus/0000:f1/../../0000:f1:00.0"), kPlace);
  EXPECT_EQ(real_path("/sys/bus/pci/devices/0000:f1:00.0/infiniband"),
            std::string(kPlace) + "/infiniband");
}

TEST_F(Tree, TheLastLinkIsShownWhenItIsNotToBeFollowed) {
  const Answer answer = at("/sys/class/infiniband/soft_0/device", false);
  ASSERT_TRUE(std::holds_alternative<Found>(answer));
  EXPECT_EQ(std::get<SymbolicLink>(std::get<Found>(answer).node.is).target, kPlace);
}

TEST_F(Tree, ThePlaceOnTheBusHasWhatTopologyReadersAskFor) {
  const std::string place = kPlace;
  EXPECT_EQ(read(place + "/class"), "0x020000\n");
  EXPECT_EQ(read(place + "/numa_node"), "0\n");
  EXPECT_EQ(read(place + "/max_link_speed"), "32.0 GT/s PCIe\n");
  EXPECT_EQ(read(place + "/../max_link_width"), "16\n");
  EXPECT_EQ(read(place + "/local_cpus"), "00000003\n");
  EXPECT_EQ(read("/sys/class/infiniband/soft_0/device/vendor"), "0xfffe\n");
  EXPECT_THAT(list(place + "/net"), ElementsAre("lo"));
}

TEST_F(Tree, CpusAreMaskedInWords) {
  const Answer answer =
      follow(device_files(source_, 34), std::string(kPlace) + "/local_cpus", true);
  EXPECT_EQ(std::get<File>(std::get<Found>(answer).node.is).content, "00000003,ffffffff\n");
}

TEST_F(Tree, WhatIsNotTheRunsIsLeftToTheMachine) {
  EXPECT_EQ(elsewhere("/sys/class/net/lo/mtu"), "/sys/class/net/lo/mtu");
  EXPECT_EQ(elsewhere("/sys/devices/pci0000:00/0000:00:01.0/class"),
            "/sys/devices/pci0000:00/0000:00:01.0/class");
  EXPECT_EQ(elsewhere(std::string(kPlace) + "/net/lo/mtu"), "/sys/class/net/lo/mtu");
  EXPECT_EQ(elsewhere("/etc/../sys/class/net"), "/etc/../sys/class/net");
}

TEST_F(Tree, WhatIsNotThereIsMissing) {
  EXPECT_EQ(error_at("/sys/class/infiniband/mlx5_0"), ENOENT);
  EXPECT_EQ(error_at("/sys/class/infiniband/soft_0/fw_ver/x"), ENOTDIR);
  source_.descriptions_.clear();
  EXPECT_THAT(list("/sys/class/infiniband"), IsEmpty());
}

TEST_F(Tree, DevicesOfSeveralHostsShareAPlace) {
  source_.prefix = "host1/";
  source_.descriptions_[1].pci_path = kPlace;
  EXPECT_THAT(list("/sys/class/infiniband"), ElementsAre("host1"));
  EXPECT_THAT(list("/sys/class/infiniband/host1"), ElementsAre("soft_0", "soft_1"));
  EXPECT_EQ(real_path("/sys/class/infiniband/host1/soft_1/device"), kPlace);
  EXPECT_EQ(read("/sys/class/infiniband/host1/soft_1/ports/1/state"), "1: DOWN\n");
}

TEST_F(Tree, LinksInCirclesEnd) {
  const Directory circle{{link("a", "/b"), link("b", "/a")}};
  const Answer answer = follow(circle, "/a", true);
  EXPECT_EQ(std::get<Missing>(answer).error, ELOOP);
}

TEST(MayBeDeviceFile, IsFalseForWhatProgramsOpenAllDay) {
  EXPECT_TRUE(may_be_device_file("/sys/class/infiniband/soft_0"));
  EXPECT_FALSE(may_be_device_file("/etc/ld.so.cache"));
  EXPECT_FALSE(may_be_device_file("/sys/class/net/lo"));
  EXPECT_FALSE(may_be_device_file(""));
}

}  // namespace
}  // namespace rocelane::softverbs
