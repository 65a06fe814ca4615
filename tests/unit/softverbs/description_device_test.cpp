#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "description_support.h"
#include "softverbs/description/default_device.h"
#include "softverbs/description/read_gid.h"

namespace rocelane::softverbs {
namespace {

TEST(DefaultDevice, HasTheUsualTableOfGids) {
  const DeviceDescription device = default_device(2, 1, "soft_");
  EXPECT_EQ(device.full_name(), "host2/soft_1");
  EXPECT_EQ(device.pci_path, "/sys/devices/pci0000:00/0000:00:02.0/0000:42:00.0");
  EXPECT_EQ(device.guid, 0x00524FFFFE000201u);
  EXPECT_TRUE(device.port_up);
  ASSERT_EQ(device.gids.size(), 4u);
  const Gid link_local = parse_gid("fe80::52:4fff:fe00:201").value();
  const Gid ipv4 = parse_gid("10.9.0.2").value();
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(device.gids[i].index, static_cast<int>(i));
    EXPECT_EQ(device.gids[i].gid, i < 2 ? link_local : ipv4);
    EXPECT_EQ(device.gids[i].roce_v2, i % 2 == 1);
    EXPECT_EQ(device.gids[i].interface, "lo");
  }
}

TEST(DefaultDevice, NoTwoShareAnAddress) {
  const RunDescription run = run_of("hosts = { count = 300, rails = 8 }");
  ASSERT_EQ(run.devices.size(), 2400u);
  std::set<uint64_t> guids;
  std::set<Gid> gids;
  for (const DeviceDescription& device : run.devices) {
    guids.insert(device.guid);
    gids.insert(device.gids[1].gid);
    gids.insert(device.gids[3].gid);
  }
  EXPECT_EQ(guids.size(), 2400u);
  EXPECT_EQ(gids.size(), 4800u);
  EXPECT_EQ(run.devices[2399].gids[3].gid, parse_gid("10.15.1.44").value());
}

TEST(Device, KeepsWhatItsTableDoesNotSay) {
  const RunDescription run = run_of(R"(
hosts = { count = 2, rails = 2 }
[[device]]
name = "host1/soft_0"
)");
  const DeviceDescription usual = default_device(1, 0, "soft_");
  EXPECT_EQ(run.devices[0].rate_bits_per_s, usual.rate_bits_per_s);
  EXPECT_EQ(run.devices[0].gids.size(), usual.gids.size());
  EXPECT_EQ(run.devices[0].limits.queue_pairs, usual.limits.queue_pairs);
}

TEST(Device, TakesEveryKeyAndLaterTablesWin) {
  const RunDescription run = run_of(R"(
hosts = { count = 2, rails = 2 }
[[device]]
name = "host2/*"
mtu = 1024
rate = "200Gb/s"
[[device]]
name = "*/soft_1"
mtu = 2048
lag_ports = 2
port = "down"
open_error = "EPERM"
dma_buf = false
relaxed_ordering = false
pci_path = "/sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0"
gids = [ { index = 6, address = "10.0.0.7", type = "v1", interface = "eth0" },
         { index = 4, address = "fe80::1", interface = "" } ]
[device.limits]
queue_pairs = 100
completion_queues = 1
memory_regions = 2
protection_domains = 3
shared_receive_queues = 0
work_requests = 64
completion_entries = 128
scatter_gather_entries = 2
inline_bytes = 0
message_bytes = 2147483648
outstanding_reads = 1
)");
  EXPECT_EQ(run.devices[0].mtu_bytes, 4096u);
  EXPECT_EQ(run.devices[2].mtu_bytes, 1024u);
  EXPECT_EQ(run.devices[2].rate_bits_per_s, 200e9);
  const DeviceDescription& device = run.devices[3];
  EXPECT_EQ(device.mtu_bytes, 2048u);
  EXPECT_EQ(device.rate_bits_per_s, 200e9);
  EXPECT_EQ(device.lag_ports, 2);
  EXPECT_FALSE(device.port_up);
  EXPECT_EQ(device.open_error, EPERM);
  EXPECT_FALSE(device.dma_buf);
  EXPECT_FALSE(device.relaxed_ordering);
  EXPECT_EQ(device.pci_path, "/sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0");
  ASSERT_EQ(device.gids.size(), 2u);
  EXPECT_EQ(device.gids[0].index, 4);
  EXPECT_EQ(device.gids[0].interface, "");
  EXPECT_TRUE(device.gids[0].roce_v2);
  EXPECT_EQ(device.gids[1].gid, parse_gid("::ffff:10.0.0.7").value());
  EXPECT_FALSE(device.gids[1].roce_v2);
  EXPECT_EQ(device.limits.queue_pairs, 100u);
  EXPECT_EQ(device.limits.shared_receive_queues, 0u);
  EXPECT_EQ(device.limits.message_bytes, 1U << 31);
  EXPECT_EQ(device.limits.outstanding_reads, 1u);
}

TEST(Device, MayHaveNoGids) {
  EXPECT_TRUE(run_of("[[device]]\nname = \"*\"\ngids = []").devices[1].gids.empty());
}

TEST(Device, MistakesSayWhereAndWhatInstead) {
  const std::string device = "[[device]]\nname = \"host1/soft_0\"\n";
  EXPECT_EQ(fabric_mistake("[[device]]\nport = \"down\""),
            "f:1: device.name: missing; write which device, for example name = \"host1/soft_0\"");
  EXPECT_EQ(fabric_mistake("[[device]]\nname = \"host2/soft_0\""),
            "f:2: device.name: \"host2/soft_0\" names no device; write a name from "
            "\"host1/soft_0\" to \"host1/soft_1\", where * stands for any characters");
  EXPECT_EQ(fabric_mistake("[[device]]\nname = \"host1/sft_0\""),
            "f:2: device.name: \"host1/sft_0\" names no device; write \"host1/soft_0\"");
  EXPECT_EQ(fabric_mistake(device + "port = \"dwn\""),
            "f:3: device.port: \"dwn\" is not known; write \"down\"");
  EXPECT_EQ(fabric_mistake(device + "open_error = \"EPREM\""),
            "f:3: device.open_error: \"EPREM\" is not possible; write the name of an errno value, "
            "for example \"ETIMEDOUT\"");
  EXPECT_EQ(fabric_mistake(device + "mtu = 1500"),
            "f:3: device.mtu: 1500 is no MTU of RoCE; write 256, 512, 1024, 2048 or 4096");
  EXPECT_EQ(fabric_mistake(device + "mtu = \"4096\""),
            "f:3: device.mtu: \"4096\" is not possible; write an integer from 256 to 4096");
  EXPECT_EQ(fabric_mistake(device + "rate = \"unlimited\""),
            "f:3: device.rate: a port claims a rate of its own; write for example \"100Gb/s\"");
  EXPECT_EQ(fabric_mistake(device + "dma_buf = 1"),
            "f:3: device.dma_buf: 1 is neither yes nor no; write true or false");
  EXPECT_EQ(fabric_mistake(device + "pci_path = \"0000:41:00.0\""),
            "f:3: device.pci_path: \"0000:41:00.0\" is not possible; write a path such as "
            "\"/sys/devices/pci0000:00/0000:00:01.0/0000:41:00.0\"");
  EXPECT_EQ(fabric_mistake(device + "[device.limits]\nqueue_pair = 1"),
            "f:4: device.limits.queue_pair: there is no such key here; write \"queue_pairs\"");
  EXPECT_EQ(fabric_mistake(device + "limits = 3"),
            "f:3: device.limits: 3 is no table; write [device.limits] on a line of its own or "
            "limits = { … }");
  EXPECT_EQ(fabric_mistake(device + "[device.limits]\nqueue_pairs = -1"),
            "f:4: device.limits.queue_pairs: -1 is not possible; write an integer from 0 to "
            "16777216");
}

TEST(Gid, MistakesSayWhereAndWhatInstead) {
  const auto mistake = [](const std::string& gids) {
    return fabric_mistake("[[device]]\nname = \"*\"\ngids = [" + gids + "]");
  };
  EXPECT_EQ(mistake("{ address = \"::1\" }"),
            "f:3: device.gids.index: missing; write the entry's place in the GID table, for "
            "example index = 4");
  EXPECT_EQ(mistake("{ index = 1 }"),
            "f:3: device.gids.address: missing; write an IPv6 or IPv4 address, for example "
            "address = \"fe80::1\"");
  EXPECT_EQ(mistake("{ index = 256, address = \"::1\" }"),
            "f:3: device.gids.index: 256 is not possible; write an integer from 0 to 255");
  EXPECT_EQ(mistake("{ index = 1, address = \"fe80:1\" }"),
            "f:3: device.gids.address: \"fe80:1\" is no address; write an IPv6 or IPv4 address, "
            "for example \"fe80::1\" or \"10.8.0.1\"");
  EXPECT_EQ(mistake("{ index = 1, address = \"::1\", type = \"v3\" }"),
            "f:3: device.gids.type: \"v3\" is not known; write one of v1, v2");
  EXPECT_EQ(mistake("{ index = 1, address = \"::1\", interface = \"0123456789abcdef\" }"),
            "f:3: device.gids.interface: \"0123456789abcdef\" is too long; write the name of a "
            "network interface, for example \"eth0\", or \"\" for one of another network "
            "namespace");
  EXPECT_EQ(mistake("{ index = 1, address = \"::1\" },\n{ index = 1, address = \"::2\" }"),
            "f:4: device.gids.index: 1 is there already; write each index once");
  EXPECT_EQ(mistake("4"),
            "f:3: device.gids: a list is no list of tables; write [[device.gids]] above each of "
            "them or gids = [{ … }]");
}

}  // namespace
}  // namespace rocelane::softverbs
