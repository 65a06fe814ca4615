#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "description_support.h"
#include "softverbs/fabric/topology.h"

namespace rocelane::softverbs {
namespace {

using testing::ElementsAre;

Topology topology_of(std::string_view text) { return Topology(run_of(text)); }

std::vector<std::string> names_of(const Topology& topology, const std::vector<int>& links) {
  std::vector<std::string> names;
  for (const int link : links) {
    names.push_back(topology.links()[static_cast<size_t>(link)].name);
  }
  return names;
}

std::vector<std::string> all_names(const Topology& topology) {
  std::vector<std::string> names;
  for (const Link& link : topology.links()) {
    names.push_back(link.name);
  }
  return names;
}

TEST(Topology, AnIdealFabricIsOneSwitch) {
  EXPECT_THAT(all_names(topology_of("")),
              ElementsAre("host1/soft_0>fabric", "fabric>host1/soft_0", "host1/soft_1>fabric",
                          "fabric>host1/soft_1"));
}

TEST(Topology, LinksAreNumberedByDeviceThenByLeafAndSpine) {
  const Topology topology = topology_of(R"(
hosts = { count = 2, rails = 1 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 1, spines = 2 }
)");
  EXPECT_THAT(
      all_names(topology),
      ElementsAre("host1/soft_0>leaf1", "leaf1>host1/soft_0", "host2/soft_0>leaf2",
                  "leaf2>host2/soft_0", "leaf1>spine1", "spine1>leaf1", "leaf1>spine2",
                  "spine2>leaf1", "leaf2>spine1", "spine1>leaf2", "leaf2>spine2", "spine2>leaf2"));
}

TEST(Topology, LeavesAreNumberedByGroupOfHostsThenByRail) {
  const Topology per_rail = topology_of(R"(
hosts = { count = 4, rails = 2 }
fabric = { kind = "leaf", hosts_per_leaf = 2 }
)");
  EXPECT_THAT(names_of(per_rail, per_rail.links_named("host*>leaf*")),
              ElementsAre("host1/soft_0>leaf1", "host1/soft_1>leaf2", "host2/soft_0>leaf1",
                          "host2/soft_1>leaf2", "host3/soft_0>leaf3", "host3/soft_1>leaf4",
                          "host4/soft_0>leaf3", "host4/soft_1>leaf4"));
  const Topology shared = topology_of(R"(
hosts = { count = 3, rails = 2 }
fabric = { kind = "leaf", hosts_per_leaf = 2, leaf_per_rail = false }
)");
  EXPECT_THAT(names_of(shared, shared.links_named("host*>leaf*")),
              ElementsAre("host1/soft_0>leaf1", "host1/soft_1>leaf1", "host2/soft_0>leaf1",
                          "host2/soft_1>leaf1", "host3/soft_0>leaf2", "host3/soft_1>leaf2"));
}

TEST(Topology, KnowsWhoSharesALeaf) {
  const Topology leaves = topology_of(R"(
hosts = { count = 4, rails = 2 }
fabric = { kind = "leaf", hosts_per_leaf = 2 }
)");
  EXPECT_TRUE(leaves.same_leaf(0, 2));
  EXPECT_FALSE(leaves.same_leaf(0, 1));
  EXPECT_FALSE(leaves.same_leaf(0, 4));
  EXPECT_TRUE(topology_of("").same_leaf(0, 1));
}

TEST(Topology, EachLagPortHasItsCable) {
  const Topology topology = topology_of("hosts = { rails = 1, lag_ports = 2 }");
  EXPECT_THAT(all_names(topology), ElementsAre("host1/soft_0.p1>fabric", "fabric>host1/soft_0.p1",
                                               "host1/soft_0.p2>fabric", "fabric>host1/soft_0.p2"));
  EXPECT_THAT(topology.links_of_device(0), ElementsAre(0, 1, 2, 3));
}

TEST(Topology, LinksOfADeviceLeaveAndReachIt) {
  const Topology topology = topology_of(R"(
hosts = { count = 2, rails = 2 }
fabric = { kind = "leaf-spine", spines = 2 }
)");
  EXPECT_THAT(names_of(topology, topology.links_of_device(2)),
              ElementsAre("host2/soft_0>leaf1", "leaf1>host2/soft_0"));
}

TEST(Topology, PatternsNameLinks) {
  const Topology topology = topology_of(R"(
hosts = { count = 2, rails = 1, lag_ports = 2 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 1, spines = 2 }
)");
  const auto named = [&topology](std::string_view pattern) {
    return names_of(topology, topology.links_named(pattern));
  };
  EXPECT_THAT(named("leaf1-spine2"), ElementsAre("leaf1>spine2", "spine2>leaf1"));
  EXPECT_THAT(named("spine2-leaf1"), ElementsAre("leaf1>spine2", "spine2>leaf1"));
  EXPECT_THAT(named("spine2>leaf1"), ElementsAre("spine2>leaf1"));
  EXPECT_THAT(named("leaf*>spine2"), ElementsAre("leaf1>spine2", "leaf2>spine2"));
  EXPECT_THAT(named("spine1>*"), ElementsAre("spine1>leaf1", "spine1>leaf2"));
  EXPECT_THAT(named("spine1"),
              ElementsAre("leaf1>spine1", "spine1>leaf1", "leaf2>spine1", "spine1>leaf2"));
  EXPECT_THAT(named("host1/soft_0>leaf1"),
              ElementsAre("host1/soft_0.p1>leaf1", "host1/soft_0.p2>leaf1"));
  EXPECT_THAT(named("host1/soft_0.p2-*"),
              ElementsAre("host1/soft_0.p2>leaf1", "leaf1>host1/soft_0.p2"));
  EXPECT_EQ(named("*").size(), topology.links().size());
  EXPECT_EQ(named("*-*").size(), topology.links().size());
  EXPECT_TRUE(named("leaf1-leaf2").empty());
  EXPECT_TRUE(named("leaf3").empty());
  EXPECT_TRUE(named("").empty());
}

TEST(Topology, LinksHaveThePropertiesOfTheirTierUnlessTheyAreNamed) {
  const Topology topology = topology_of(R"(
hosts = { count = 2, rails = 1 }
[fabric]
kind = "leaf-spine"
hosts_per_leaf = 1
spines = 2
host_link = { rate = "100Gb/s", delay = "500ns" }
spine_link = { rate = "400Gb/s", delay = "1us", mark_above = "1MiB" }
[[link]]
name = "leaf1-*"
rate = "10Gb/s"
loss = 0.5
[[link]]
name = "leaf1>spine2"
rate = "20Gb/s"
pause_above = "2MiB"
)");
  const auto properties = [&topology](std::string_view name) {
    return topology.links()[static_cast<size_t>(topology.links_named(name).at(0))].properties;
  };
  EXPECT_EQ(properties("host2/soft_0>leaf2").rate_bits_per_s, 100e9);
  EXPECT_EQ(properties("host2/soft_0>leaf2").delay_ns, 500u);
  EXPECT_EQ(properties("leaf2>spine2").rate_bits_per_s, 400e9);
  EXPECT_EQ(properties("leaf2>spine2").loss, 0);
  EXPECT_EQ(properties("host1/soft_0>leaf1").rate_bits_per_s, 10e9);
  EXPECT_EQ(properties("host1/soft_0>leaf1").loss, 0.5);
  EXPECT_EQ(properties("spine2>leaf1").rate_bits_per_s, 10e9);
  EXPECT_EQ(properties("leaf1>spine2").rate_bits_per_s, 20e9);
  EXPECT_EQ(properties("leaf1>spine2").loss, 0.5);
  EXPECT_EQ(properties("leaf1>spine2").delay_ns, 1000u);
  EXPECT_EQ(properties("leaf1>spine2").mark_above_bytes, 1U << 20);
  EXPECT_EQ(properties("leaf1>spine2").pause_above_bytes, 2U << 20);
}

TEST(Topology, TheNumberOfLinksIsKnownBeforeTheyAreBuilt) {
  for (const char* text :
       {"", "hosts = { count = 3, lag_ports = 2 }",
        "hosts = { count = 5, rails = 3 }\nfabric = { kind = \"leaf\", hosts_per_leaf = 2 }",
        "hosts = { count = 5, rails = 3 }\n"
        "fabric = { kind = \"leaf-spine\", hosts_per_leaf = 2, spines = 7 }"}) {
    const RunDescription run = run_of(text);
    EXPECT_EQ(number_of_links(run), Topology(run).links().size()) << text;
  }
}

}  // namespace
}  // namespace rocelane::softverbs
