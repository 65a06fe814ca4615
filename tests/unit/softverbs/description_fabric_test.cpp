#include <string>

#include <gtest/gtest.h>

#include "description_support.h"

namespace rocelane::softverbs {
namespace {

TEST(FabricFile, AnEmptyOneIsOneHostWithTwoRailsAndAnIdealFabric) {
  const RunDescription run = run_of("");
  EXPECT_EQ(run.seed, 1u);
  EXPECT_EQ(run.hosts, 1);
  EXPECT_EQ(run.rails, 2);
  ASSERT_EQ(run.devices.size(), 2u);
  EXPECT_EQ(run.devices[1].full_name(), "host1/soft_1");
  EXPECT_TRUE(run.fabric.is_ideal());
}

TEST(FabricFile, SaysEverything) {
  const RunDescription run = run_of(R"(
seed = 7
[hosts]
count = 4
rails = 2
rate = "400Gb/s"
mtu = 2048
lag_ports = 2
device_prefix = "mlx5_"
[fabric]
kind = "leaf-spine"
leaf_per_rail = false
hosts_per_leaf = 2
spines = 4
hash = "port-blind"
lag_choice = "random"
reroute = "1s"
window = "1MiB"
burst = "4KiB"
link_local_reaches = false
host_link = { rate = "100Gb/s", delay = "500ns" }
spine_link = { loss = 0.001, mark_above = "100KiB", pause_above = "200KiB" }
[[link]]
name = "leaf1-spine2"
rate = "10Gb/s"
[[link]]
name = "leaf*>spine*"
loss = "1%"
delay = "2us"
[[unreachable]]
from = "host1/mlx5_0"
to = "*/mlx5_1"
error = "ETIMEDOUT"
delay = "3s"
)");
  EXPECT_EQ(run.seed, 7u);
  ASSERT_EQ(run.devices.size(), 8u);
  EXPECT_EQ(run.devices[5].full_name(), "host3/mlx5_1");
  EXPECT_EQ(run.devices[5].rate_bits_per_s, 400e9);
  EXPECT_EQ(run.devices[5].mtu_bytes, 2048u);
  EXPECT_EQ(run.devices[5].lag_ports, 2);
  const FabricDescription& fabric = run.fabric;
  EXPECT_EQ(fabric.kind, FabricKind::kLeafSpine);
  EXPECT_FALSE(fabric.leaf_per_rail);
  EXPECT_EQ(fabric.hosts_per_leaf, 2);
  EXPECT_EQ(fabric.spines, 4);
  EXPECT_EQ(fabric.hash, PathHash::kPortBlind);
  EXPECT_EQ(fabric.lag_choice, LagChoice::kRandom);
  EXPECT_EQ(fabric.reroute_ns, 1'000'000'000u);
  EXPECT_EQ(fabric.window_bytes, 1U << 20);
  EXPECT_EQ(fabric.burst_bytes, 4096u);
  EXPECT_FALSE(fabric.link_local_reaches);
  EXPECT_EQ(fabric.host_link.rate_bits_per_s, 100e9);
  EXPECT_EQ(fabric.host_link.delay_ns, 500u);
  EXPECT_EQ(fabric.spine_link.loss, 0.001);
  EXPECT_EQ(fabric.spine_link.mark_above_bytes, 102400u);
  EXPECT_EQ(fabric.spine_link.pause_above_bytes, 204800u);
  ASSERT_EQ(fabric.links.size(), 2u);
  EXPECT_TRUE(fabric.links[0].has_rate);
  EXPECT_FALSE(fabric.links[0].has_loss);
  EXPECT_EQ(fabric.links[1].properties.loss, 0.01);
  EXPECT_EQ(fabric.links[1].properties.delay_ns, 2000u);
  ASSERT_EQ(fabric.unreachable.size(), 1u);
  EXPECT_EQ(fabric.unreachable[0].to, "*/mlx5_1");
  EXPECT_EQ(fabric.unreachable[0].modify_error, ETIMEDOUT);
  EXPECT_EQ(fabric.unreachable[0].delay_ns, 3'000'000'000u);
}

TEST(FabricFile, AFabricIsIdealUntilThereIsSomethingToWaitForOrToLose) {
  EXPECT_TRUE(run_of("[fabric]\nkind = \"ideal\"").fabric.is_ideal());
  EXPECT_TRUE(run_of("[fabric]\nhost_link = { rate = \"unlimited\" }").fabric.is_ideal());
  EXPECT_FALSE(run_of("[fabric]\nhost_link = { rate = \"1Gb/s\" }").fabric.is_ideal());
  EXPECT_FALSE(run_of("[fabric]\nkind = \"leaf\"").fabric.is_ideal());
  EXPECT_FALSE(run_of("[[link]]\nname = \"*\"\nloss = 0.5").fabric.is_ideal());
  const std::string pair = "[[unreachable]]\nfrom = \"*\"\nto = \"*\"\n";
  EXPECT_FALSE(run_of(pair).fabric.is_ideal());
  EXPECT_TRUE(run_of(pair + "error = \"ETIMEDOUT\"").fabric.is_ideal());
}

TEST(FabricFile, WhatIsNotTomlGivesTheLine) {
  EXPECT_TRUE(fabric_mistake("seed = 1\nhosts = [").starts_with("f:2: this is not TOML: "));
  EXPECT_TRUE(fabric_mistake("seed = 1\nseed = 2").starts_with("f:2: this is not TOML: "));
  EXPECT_TRUE(fabric_mistake("\n\nseed = \xFF\n").starts_with("f:3: this is not TOML: "));
}

TEST(FabricFile, CommentsMayHoldAnyCharacters) {
  EXPECT_EQ(run_of("\xEF\xBB\xBFseed = 7  # graine n\u00BA 7 \u2192 r\u00E9p\u00E9table").seed, 7u);
  EXPECT_TRUE(fabric_mistake("gra\u00EEne = 7").starts_with("f:1: this is not TOML: "));
  EXPECT_EQ(fabric_mistake("[fabric]\nkind = \"id\u00E9al\""),
            "f:2: fabric.kind: \"id??al\" is not known; write \"ideal\"");
}

TEST(FabricFile, UnknownKeysGetTheNearestKnownOne) {
  EXPECT_EQ(fabric_mistake("[host]\ncount = 4"),
            "f:1: host: there is no such key here; write \"hosts\"");
  EXPECT_EQ(fabric_mistake("[hosts]\nrials = 4"),
            "f:2: hosts.rials: there is no such key here; write \"rails\"");
  EXPECT_EQ(fabric_mistake("[hosts]\ncolour = 4"),
            "f:2: hosts.colour: there is no such key here; write one of count, rails, rate, mtu, "
            "lag_ports, device_prefix");
  EXPECT_EQ(fabric_mistake("[fabric]\nhost_link = { speed = \"1Gb/s\" }"),
            "f:2: fabric.host_link.speed: there is no such key here; write one of rate, delay, "
            "loss, mark_above, pause_above");
}

TEST(FabricFile, ValuesOfTheWrongTypeOrOutOfBounds) {
  EXPECT_EQ(fabric_mistake("seed = -1"),
            "f:1: seed: -1 is not possible; write an integer from 0 to 9223372036854775807");
  EXPECT_EQ(fabric_mistake("[hosts]\ncount = 1025"),
            "f:2: hosts.count: 1025 is not possible; write an integer from 1 to 1024");
  EXPECT_EQ(fabric_mistake("[hosts]\ncount = 1979-05-27"),
            "f:2: hosts.count: a date or time is not possible; write an integer from 1 to 1024");
  EXPECT_EQ(fabric_mistake("[hosts]\nrails = 1.5"),
            "f:2: hosts.rails: 1.5 is not possible; write an integer from 1 to 16");
  EXPECT_EQ(fabric_mistake("[hosts]\ncount = 1024\nrails = 5"),
            "f:2: hosts.count: 1024 hosts with 5 rails are 5120 devices; write fewer; a run has "
            "at most 4096 devices");
  EXPECT_EQ(fabric_mistake("[hosts]\nlag_ports = 9"),
            "f:2: hosts.lag_ports: 9 is not possible; write an integer from 1 to 8");
  EXPECT_EQ(fabric_mistake("[hosts]\nrate = 100"),
            "f:2: hosts.rate: 100 is not possible; write a rate with its unit from 1kb/s to "
            "100Tb/s, for example \"100Gb/s\", or \"unlimited\"");
  EXPECT_EQ(fabric_mistake("[hosts]\ndevice_prefix = \"a-b\""),
            "f:2: hosts.device_prefix: \"a-b\" is not possible; write 1 to 32 letters, digits and "
            "_, for example \"mlx5_\"");
  EXPECT_EQ(fabric_mistake("hosts = 3"),
            "f:1: hosts: 3 is no table; write [hosts] on a line of its own or hosts = { … }");
  EXPECT_EQ(fabric_mistake("[fabric]\nkind = 3"),
            "f:2: fabric.kind: 3 is no text; write it in quotes");
  EXPECT_EQ(fabric_mistake("[fabric]\nkind = \"leafspine\""),
            "f:2: fabric.kind: \"leafspine\" is not known; write \"leaf-spine\"");
  EXPECT_EQ(fabric_mistake("[fabric]\nhash = \"crc\""),
            "f:2: fabric.hash: \"crc\" is not known; write one of five-tuple, port-blind");
  EXPECT_EQ(fabric_mistake("[fabric]\nreroute = 5"),
            "f:2: fabric.reroute: 5 is not possible; write a time with its unit (ns, us, ms, s, "
            "min, h, d; at most 365d), for example \"200ms\"");
  EXPECT_EQ(fabric_mistake("[fabric]\nwindow = \"256K\""),
            "f:2: fabric.window: \"256K\" is not possible; write a size with its unit (B, kB, KiB, "
            "MB, MiB, GB, GiB), for example \"256KiB\"");
  EXPECT_EQ(fabric_mistake("[fabric]\nwindow = \"1KiB\""),
            "f:2: fabric.window: 1024 bytes are not possible; write at least one burst, which is "
            "16384 bytes, and at most 1GiB");
  EXPECT_EQ(fabric_mistake("[fabric]\nburst = \"1B\""),
            "f:2: fabric.burst: 1 bytes are not possible; write 256B to 64MiB");
  EXPECT_EQ(fabric_mistake("[fabric]\nhost_link = { loss = \"101%\" }"),
            "f:2: fabric.host_link.loss: \"101%\" is not possible; write \"0%\" to \"100%\", or a "
            "number from 0 to 1");
  EXPECT_EQ(fabric_mistake("[fabric]\nhost_link = { loss = nan }"),
            "f:2: fabric.host_link.loss: nan is no probability; write a number from 0 to 1, or "
            "\"0%\" to \"100%\"");
}

TEST(FabricFile, KeysThatDoNotFitTheKindOfFabric) {
  EXPECT_EQ(fabric_mistake("[fabric]\nkind = \"leaf-spine\""),
            "f:1: fabric.spines: missing; write how many spines a leaf-spine fabric has, "
            "spines = 4");
  EXPECT_EQ(fabric_mistake("[fabric]\nkind = \"leaf\"\nspines = 4"),
            "f:3: fabric.spines: this kind of fabric has no spines; write kind = \"leaf-spine\" or "
            "leave this out");
  EXPECT_EQ(fabric_mistake("[fabric]\nhosts_per_leaf = 4"),
            "f:2: fabric.hosts_per_leaf: an ideal fabric has no leaves; write kind = \"leaf\" or "
            "\"leaf-spine\", or leave this out");
}

TEST(FabricFile, NamesThatMatchNothing) {
  EXPECT_EQ(fabric_mistake("[[link]]\nname = \"leaf1-spine2\""),
            "f:2: link.name: \"leaf1-spine2\" names no link; write a link such as "
            "\"host1/soft_0>fabric\" or \"fabric>host1/soft_1\", where > is one direction, - both, "
            "and * stands for any characters");
  EXPECT_EQ(fabric_mistake("[[link]]\nname = \"spine2\""),
            "f:2: link.name: \"spine2\" names no link; write two ends, for example "
            "\"host1/soft_0>fabric\", where > is one direction, - both, and * stands for any "
            "characters");
  EXPECT_EQ(fabric_mistake("[[link]]\nrate = \"1Gb/s\""),
            "f:1: link.name: missing; write which link, for example name = \"leaf1-spine2\"");
  EXPECT_EQ(fabric_mistake("[[unreachable]]\nfrom = \"*\"\nto = \"host1/soft_5\""),
            "f:3: unreachable.to: \"host1/soft_5\" names no device; write a name from "
            "\"host1/soft_0\" to \"host1/soft_1\", where * stands for any characters");
  EXPECT_EQ(fabric_mistake("[[unreachable]]\nfrom = \"*\""),
            "f:1: unreachable.to: missing; write a device, for example to = \"host1/soft_0\"");
  EXPECT_EQ(fabric_mistake("[link]\nname = \"*\""),
            "f:1: link: a table is no list of tables; write [[link]] above each of them or "
            "link = [{ … }]");
}

TEST(FabricFile, LinkNumbersFitInSixteenBits) {
  const std::string hosts = "[hosts]\ncount = 1024\nrails = 4\n";
  const std::string spines = "[fabric]\nkind = \"leaf-spine\"\nhosts_per_leaf = 64\n";
  EXPECT_EQ(run_of(hosts + spines + "spines = 256").devices.size(), 4096u);
  EXPECT_EQ(fabric_mistake(hosts + "[fabric]\nkind = \"leaf-spine\"\nhosts_per_leaf = 16\n"
                                   "spines = 256"),
            "f:4: fabric: these hosts, leaves and spines have 139264 links; write fewer spines or "
            "more hosts_per_leaf; at most 65535 links are possible");
  EXPECT_EQ(fabric_mistake(hosts + "lag_ports = 8"),
            "f:1: fabric: these hosts, leaves and spines have 65536 links; write fewer spines or "
            "more hosts_per_leaf; at most 65535 links are possible");
}

TEST(FabricFile, HugeFilesAreRefusedUnread) {
  EXPECT_EQ(fabric_mistake(std::string((1 << 20) + 1, ' ')),
            "f:1: the file has 1048577 bytes; write at most 1048576; * stands for many names at "
            "once");
  std::string many;
  for (int i = 0; i < 4097; ++i) {
    many += "[[link]]\nname = \"*\"\n";
  }
  EXPECT_EQ(fabric_mistake(many),
            "f:1: link: there are 4097 of them; write at most 4096; * stands for many names at "
            "once");
}

}  // namespace
}  // namespace rocelane::softverbs
