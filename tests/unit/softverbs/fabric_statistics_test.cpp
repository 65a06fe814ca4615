// Known statistics of hashed paths: 32 flows on 32 equal uplinks are balls thrown into bins.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "description_support.h"
#include "softverbs/fabric/topology.h"
#include "softverbs/fabric/udp_source_port.h"

namespace rocelane::softverbs {
namespace {

constexpr int kHosts = 32;  // on each of two leaves
constexpr int kSpines = 32;

RunDescription two_leaves(uint64_t seed) {
  RunDescription run = run_of(R"(
hosts = { count = 64, rails = 1 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 32, spines = 32 }
)");
  run.seed = seed;
  return run;
}

// The fullest uplink of leaf1 over the average one, when every host of leaf1 sends to one of leaf2
// and `port(host, queue_pair)` is the UDP source port.
template <class Port>
double fullest_over_average(const Topology& topology, int queue_pairs, const Port& port) {
  std::vector<int> load(topology.links().size());
  for (int host = 0; host < kHosts; ++host) {
    for (int queue_pair = 0; queue_pair < queue_pairs; ++queue_pair) {
      const Flow flow{host, kHosts + host, port(host, queue_pair)};
      ++load[topology.path_of(flow, {}).value().links[1]];
    }
  }
  const double average = static_cast<double>(kHosts * queue_pairs) / kSpines;
  return *std::max_element(load.begin(), load.end()) / average;
}

double mean_fullest(int queue_pairs, int seeds) {
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Topology topology(two_leaves(static_cast<uint64_t>(seed)));
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    sum += fullest_over_average(topology, queue_pairs, [&random](int, int) {
      return static_cast<uint16_t>(0xC000 | (random() & 0x3FFF));
    });
  }
  return sum / seeds;
}

TEST(Statistics, OneQueuePairEachLoadsTheFullestLinkThreeAndAHalfTimes) {
  const double mean = mean_fullest(1, 300);
  RecordProperty("mean", std::to_string(mean));
  EXPECT_GT(mean, 3.2);
  EXPECT_LT(mean, 3.8);
}

TEST(Statistics, SixteenQueuePairsEachStillLoadItOneAndAHalfTimes) {
  const double mean = mean_fullest(16, 200);
  RecordProperty("mean", std::to_string(mean));
  EXPECT_GT(mean, 1.45);
  EXPECT_LT(mean, 1.75);
}

// What NCCL does: no flow label, numbers given out one after another.
TEST(Statistics, PortsFromNeighbouringQueuePairNumbersAreAsGoodAsRandomOnes) {
  constexpr int kSeeds = 200;
  constexpr int kQueuePairs = 16;
  double sum = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Topology topology(two_leaves(static_cast<uint64_t>(seed)));
    sum += fullest_over_average(topology, kQueuePairs, [](int host, int queue_pair) {
      const auto number = static_cast<uint32_t>(0x100 + host * kQueuePairs + queue_pair);
      return udp_source_port(0, number, number + 0x400);
    });
  }
  RecordProperty("mean", std::to_string(sum / kSeeds));
  EXPECT_GT(sum / kSeeds, 1.45);
  EXPECT_LT(sum / kSeeds, 1.75);
}

// If both tiers hashed alike, the flows that one spine choice brings to a leaf would all continue
// on the same LAG port.
TEST(Statistics, TheTiersHashIndependently) {
  const Topology topology(run_of(R"(
hosts = { count = 2, rails = 1, lag_ports = 2 }
fabric = { kind = "leaf-spine", hosts_per_leaf = 1, spines = 2 }
)"));
  int same = 0;
  constexpr int kFlows = 4000;
  for (int n = 0; n < kFlows; ++n) {
    const Path path = topology.path_of({0, 1, static_cast<uint16_t>(0xC000 + n)}, {}).value();
    const bool first_spine = path.links[1] == topology.links_named("leaf1>spine1").front();
    const bool first_port = path.links[3] == topology.links_named("*>host2/soft_0.p1").front();
    same += first_spine == first_port ? 1 : 0;
  }
  EXPECT_NEAR(same / static_cast<double>(kFlows), 0.5, 0.04);
}

}  // namespace
}  // namespace rocelane::softverbs
