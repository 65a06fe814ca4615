#include <set>

#include <gtest/gtest.h>

#include "softverbs/fabric/udp_source_port.h"

namespace rocelane::softverbs {
namespace {

TEST(UdpSourcePort, AFlowLabelOfFourteenBitsIsTakenAsItIs) {
  EXPECT_EQ(udp_source_port(1, 17, 18), 0xC001);
  EXPECT_EQ(udp_source_port(0x3FFF, 17, 18), 0xFFFF);
  std::set<uint16_t> ports;
  for (uint32_t label = 1; label <= 0x3FFF; ++label) {
    ports.insert(udp_source_port(label, 17, 18));
  }
  EXPECT_EQ(ports.size(), 0x3FFFu);
}

TEST(UdpSourcePort, TheSixBitsAboveAreFoldedIn) {
  EXPECT_EQ(udp_source_port(0x4000, 17, 18), 0xC001);
  EXPECT_EQ(udp_source_port(0xFC000, 17, 18), 0xC03F);
  EXPECT_EQ(udp_source_port(0xFFFFF, 17, 18), 0xFFC0);
}

TEST(UdpSourcePort, BitsBeyondTheLabelDoNotCount) {
  EXPECT_EQ(udp_source_port(0x100001, 17, 18), 0xC001);
  EXPECT_EQ(udp_source_port(0xFFF00000, 17, 18), udp_source_port(0, 17, 18));
}

TEST(UdpSourcePort, WithoutALabelTheQueuePairNumbersDecide) {
  // 17 * 18 = 306 = 0x132.
  EXPECT_EQ(udp_source_port(0, 17, 18), 0xC132);
  // The product 0xC379A59BA4A, folded to the label 0xAC3E3 and that to the port.
  EXPECT_EQ(udp_source_port(0, 0x123456, 0xABCDEF), 0xC3C8);
  EXPECT_EQ(udp_source_port(0xAC3E3, 0, 0), 0xC3C8);
}

TEST(UdpSourcePort, BothDirectionsAgreeWithoutALabel) {
  for (uint32_t number = 1; number < 2000; ++number) {
    EXPECT_EQ(udp_source_port(0, number, 77), udp_source_port(0, 77, number));
  }
}

}  // namespace
}  // namespace rocelane::softverbs
