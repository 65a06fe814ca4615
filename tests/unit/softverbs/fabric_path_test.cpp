#include <chrono>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "description_support.h"
#include "softverbs/fabric/topology.h"

namespace rocelane::softverbs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using LinkNames = std::vector<std::string>;

const std::function<bool(int)> kNone;

std::optional<LinkNames> path_names(const Topology& topology, const Flow& flow,
                                    const std::function<bool(int)>& avoided = kNone) {
  const std::optional<Path> path = topology.path_of(flow, avoided);
  if (!path) {
    return std::nullopt;
  }
  LinkNames names;
  for (size_t hop = 0; hop < path->length; ++hop) {
    names.push_back(topology.links()[path->links[hop]].name);
  }
  return names;
}

std::function<bool(int)> avoiding(const Topology& topology, std::string_view pattern) {
  const std::vector<int> links = topology.links_named(pattern);
  EXPECT_FALSE(links.empty()) << pattern;
  return
      [set = std::set<int>(links.begin(), links.end())](int link) { return set.count(link) > 0; };
}

uint16_t port(int n) { return static_cast<uint16_t>(0xC000 + n); }

// 4 hosts on 2 leaves, 1 rail, 4 spines. Devices 0 and 1 share leaf1, 2 and 3 leaf2.
constexpr std::string_view kTwoLeaves = R"(
hosts = { count = 4, rails = 1 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 2, spines = 4 }
)";

TEST(Path, GoesThroughTheOneSwitchOfAnIdealFabric) {
  const Topology topology(run_of(""));
  EXPECT_THAT(path_names(topology, {0, 1}).value(),
              ElementsAre("host1/soft_0>fabric", "fabric>host1/soft_1"));
}

TEST(Path, ToOneselfHasNoLinks) {
  const Topology topology(run_of(""));
  EXPECT_THAT(path_names(topology, {1, 1}).value(), IsEmpty());
}

TEST(Path, OnOneLeafNeedsNoSpine) {
  const Topology topology(run_of(kTwoLeaves));
  EXPECT_THAT(path_names(topology, {0, 1}).value(),
              ElementsAre("host1/soft_0>leaf1", "leaf1>host2/soft_0"));
}

TEST(Path, BetweenLeavesCrossesOneSpine) {
  const Topology topology(run_of(kTwoLeaves));
  std::set<std::string> spines;
  for (int n = 0; n < 100; ++n) {
    const LinkNames names = path_names(topology, {0, 2, port(n)}).value();
    ASSERT_EQ(names.size(), 4u);
    EXPECT_EQ(names[0], "host1/soft_0>leaf1");
    const std::string spine = names[1].substr(names[1].find('>') + 1);
    EXPECT_EQ(names[1], "leaf1>" + spine);
    EXPECT_EQ(names[2], spine + ">leaf2");
    EXPECT_EQ(names[3], "leaf2>host3/soft_0");
    spines.insert(spine);
  }
  EXPECT_EQ(spines.size(), 4u);
}

TEST(Path, StaysTheSameForTheSameFlowAndSeed) {
  const Topology topology(run_of(kTwoLeaves));
  const Topology again(run_of(kTwoLeaves));
  const Topology other(run_of("seed = 2\n" + std::string(kTwoLeaves)));
  int moved = 0;
  for (int n = 0; n < 100; ++n) {
    const Flow flow{1, 3, port(n)};
    EXPECT_EQ(path_names(topology, flow), path_names(again, flow));
    moved += path_names(topology, flow) != path_names(other, flow) ? 1 : 0;
  }
  EXPECT_GT(moved, 50);
}

TEST(Path, LeavesWithoutSpinesDoNotReachEachOther) {
  const Topology topology(run_of(R"(
hosts = { count = 2, rails = 2 }
fabric = { kind = "leaf" }
)"));
  EXPECT_EQ(path_names(topology, {0, 1}), std::nullopt);
  EXPECT_EQ(path_names(topology, {0, 3}), std::nullopt);
  EXPECT_NE(path_names(topology, {0, 2}), std::nullopt);
}

TEST(Path, APortBlindHashSendsAllQueuePairsOfAPairTheSameWay) {
  const Topology topology(run_of(R"(
hosts = { count = 16, rails = 1 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 8, spines = 8, hash = "port-blind" }
)"));
  std::set<LinkNames> paths;
  std::set<std::string> uplinks;
  for (int to = 8; to < 16; ++to) {
    paths.clear();
    for (int n = 0; n < 64; ++n) {
      paths.insert(path_names(topology, {0, to, port(n)}).value());
    }
    EXPECT_EQ(paths.size(), 1u) << "to device " << to;
    uplinks.insert((*paths.begin())[1]);
  }
  EXPECT_GT(uplinks.size(), 1u) << "pairs still differ";
}

TEST(Path, AvoidsASpineThatHasLostEitherLeaf) {
  const Topology topology(run_of(kTwoLeaves));
  for (const char* lost : {"leaf1>spine2", "spine2>leaf2", "spine2"}) {
    const auto avoided = avoiding(topology, lost);
    for (int n = 0; n < 200; ++n) {
      const LinkNames names = path_names(topology, {0, 2, port(n)}, avoided).value();
      EXPECT_NE(names[1], "leaf1>spine2") << lost;
    }
  }
}

TEST(Path, TheOtherDirectionOfALostLinkStaysInUse) {
  const Topology topology(run_of(kTwoLeaves));
  const auto avoided = avoiding(topology, "leaf1>spine2");
  for (int n = 0; n < 200; ++n) {
    const Flow back{2, 0, port(n)};
    EXPECT_EQ(path_names(topology, back, avoided), path_names(topology, back));
  }
}

// Plain ECMP: the hash modulo fewer members moves flows that had nothing to do with the loss.
TEST(Path, ALostMemberMovesFlowsOfTheOthersToo) {
  const Topology topology(run_of(kTwoLeaves));
  const auto avoided = avoiding(topology, "leaf1-spine2");
  int unconcerned = 0;
  int moved = 0;
  std::map<std::string, int> load;
  for (int n = 0; n < 4000; ++n) {
    const Flow flow{0, 2, port(n)};
    const std::string before = path_names(topology, flow).value()[1];
    const std::string after = path_names(topology, flow, avoided).value()[1];
    ++load[after];
    if (before != "leaf1>spine2") {
      ++unconcerned;
      moved += before != after ? 1 : 0;
    }
  }
  EXPECT_NEAR(moved / static_cast<double>(unconcerned), 2.0 / 3, 0.05);
  ASSERT_EQ(load.size(), 3u);
  for (const auto& [link, flows] : load) {
    EXPECT_NEAR(flows, 4000 / 3.0, 130) << link;
  }
}

TEST(Path, ThereIsNoneWhenEverythingIsAvoided) {
  const Topology topology(run_of(kTwoLeaves));
  EXPECT_EQ(path_names(topology, {0, 2}, avoiding(topology, "spine*")), std::nullopt);
  EXPECT_EQ(path_names(topology, {0, 2}, avoiding(topology, "host1/*>*")), std::nullopt);
  EXPECT_EQ(path_names(topology, {0, 2}, avoiding(topology, "*>host3/*")), std::nullopt);
  EXPECT_NE(path_names(topology, {0, 2}, avoiding(topology, "*>host1/*")), std::nullopt);
}

constexpr std::string_view kLag = "hosts = { count = 2, rails = 1, lag_ports = 2 }";

TEST(Path, LeavesThroughTheLagPortOfTheQueuePair) {
  const Topology topology(run_of(kLag));
  EXPECT_EQ(path_names(topology, {0, 1, port(0), 0}).value()[0], "host1/soft_0.p1>fabric");
  EXPECT_EQ(path_names(topology, {0, 1, port(0), 1}).value()[0], "host1/soft_0.p2>fabric");
  EXPECT_EQ(path_names(topology, {0, 1, port(0), 2}).value()[0], "host1/soft_0.p1>fabric");
}

TEST(Path, TheSwitchSplitsWhatReachesALagByHash) {
  const Topology topology(run_of(kLag));
  std::map<std::string, int> load;
  for (int n = 0; n < 2000; ++n) {
    ++load[path_names(topology, {0, 1, port(n), static_cast<uint8_t>(n % 2)}).value()[1]];
  }
  EXPECT_NEAR(load["fabric>host2/soft_0.p1"], 1000, 100);
  EXPECT_NEAR(load["fabric>host2/soft_0.p2"], 1000, 100);
}

TEST(Path, ALostLagPortHandsItsFlowsToTheOther) {
  const Topology topology(run_of(kLag));
  for (int n = 0; n < 50; ++n) {
    EXPECT_THAT(path_names(topology, {0, 1, port(n), 1}, avoiding(topology, "*.p2")).value(),
                ElementsAre("host1/soft_0.p1>fabric", "fabric>host2/soft_0.p1"));
  }
}

// Connections ask for a path each, and again when a link is lost. The limit leaves room for a busy
// machine and for sanitizers; the time itself is in the report.
TEST(Path, AHundredThousandTakeLittleTime) {
  const Topology topology(run_of(R"(
hosts = { count = 64, rails = 8 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 32, spines = 64 }
)"));
  const auto avoided = avoiding(topology, "leaf1-spine1");
  const auto start = std::chrono::steady_clock::now();
  uint64_t hops = 0;
  for (int n = 0; n < 100'000; ++n) {
    hops += topology.path_of({n % 256, 256 + n % 256, port(n % 0x3FFF)}, avoided)->length;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(hops, 400'000u);
  EXPECT_LT(took.count(), 5.0);
  RecordProperty("seconds", std::to_string(took.count()));
}

}  // namespace
}  // namespace rocelane::softverbs
