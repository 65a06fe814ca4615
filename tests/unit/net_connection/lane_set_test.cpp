#include "net/connection/lane_set.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

TEST(FlowLabels, LanesOfOneConnectionNeverShareASourcePort) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const uint64_t entropy = random();
    std::set<uint16_t> ports;
    for (size_t lane = 0; lane <= kMaxDataLanes; ++lane) {
      const uint32_t label = choose_flow_label(entropy, lane);
      ASSERT_GE(label, 1U) << "label 0 means: the driver chooses";
      ASSERT_LE(label, 0x3fffU);
      ASSERT_TRUE(ports.insert(verbs::udp_source_port(label)).second)
          << "entropy " << entropy << " lane " << lane;
    }
  }
}

TEST(FlowLabels, TheSourcePortIsTheLabelInTheDynamicRange) {
  EXPECT_EQ(verbs::udp_source_port(1), 0xC001);
  EXPECT_EQ(verbs::udp_source_port(0x3fff), 0xFFFF);
}

}  // namespace
}  // namespace rocelane::net
