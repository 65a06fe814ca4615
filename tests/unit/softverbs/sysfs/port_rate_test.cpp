#include "softverbs/sysfs/port_rate.h"

#include <gtest/gtest.h>

namespace rocelane::softverbs {
namespace {

TEST(PortRate, IsSaidInLanesAndTheirSpeed) {
  EXPECT_EQ(port_rate(100e9).text(), "100 Gb/sec (4X EDR)");
  EXPECT_EQ(port_rate(200e9).text(), "200 Gb/sec (4X HDR)");
  EXPECT_EQ(port_rate(400e9).text(), "400 Gb/sec (4X NDR)");
  EXPECT_EQ(port_rate(800e9).text(), "800 Gb/sec (8X NDR)");
  EXPECT_EQ(port_rate(40e9).text(), "40 Gb/sec (4X QDR)");
  EXPECT_EQ(port_rate(10e9).text(), "10 Gb/sec (1X QDR)");
  EXPECT_EQ(port_rate(25e9).text(), "25 Gb/sec (1X EDR)");
  EXPECT_EQ(port_rate(50e9).text(), "50 Gb/sec (1X HDR)");
}

TEST(PortRate, BecomesTheNextLowerOneThatThereIs) {
  EXPECT_EQ(port_rate(399e9).text(), "200 Gb/sec (4X HDR)");
  EXPECT_EQ(port_rate(1e6).text(), "10 Gb/sec (1X QDR)");
}

TEST(PortRate, HasTheCodesOfAPortQuery) {
  EXPECT_EQ(port_rate(100e9).active_width, 2);
  EXPECT_EQ(port_rate(100e9).active_speed, 32);
  EXPECT_EQ(port_rate(25e9).active_width, 1);
}

}  // namespace
}  // namespace rocelane::softverbs
