#include <climits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/device/path_mtu.h"
#include "net/device/pci_path.h"
#include "net/device/port_speed.h"

namespace rocelane::net {
namespace {

TEST(PathMtu, HasVerbsCodesForFiveSizes) {
  int bytes = 256;
  for (int code = 1; code <= 5; ++code, bytes *= 2) {
    EXPECT_EQ(mtu_bytes_of_code(code), bytes);
    EXPECT_EQ(mtu_code_of_bytes(bytes), code);
  }
  for (const int code : {0, 6, -1, INT_MAX, INT_MIN}) {
    EXPECT_EQ(mtu_bytes_of_code(code), std::nullopt);
  }
}

TEST(PathMtu, FitsIntoAnyNumberOfBytes) {
  EXPECT_EQ(mtu_code_of_bytes(9000), 5);
  EXPECT_EQ(mtu_code_of_bytes(1500), 3);
  EXPECT_EQ(mtu_code_of_bytes(255), std::nullopt);
  EXPECT_EQ(mtu_code_of_bytes(-1), std::nullopt);
}

int chosen_mtu(int local, int remote, std::optional<int> bound = std::nullopt) {
  const Result<int> mtu = choose_path_mtu(local, remote, bound);
  return mtu.ok() ? *mtu : -1;
}

TEST(PathMtu, IsTheSmallestOfBothEndsAndTheSetting) {
  EXPECT_EQ(chosen_mtu(4096, 1024), 1024);
  EXPECT_EQ(chosen_mtu(1024, 4096), 1024);
  EXPECT_EQ(chosen_mtu(4096, 4096, 2048), 2048);
  EXPECT_EQ(chosen_mtu(1024, 4096, 2048), 1024);
  EXPECT_EQ(chosen_mtu(4096, 4096), 4096);
}

TEST(PathMtu, SurvivesWhateverAPeerSends) {
  EXPECT_EQ(chosen_mtu(4096, INT_MAX), 4096);
  EXPECT_EQ(chosen_mtu(4096, 1500), 1024);
  EXPECT_EQ(chosen_mtu(4096, 0), -1);
  EXPECT_EQ(chosen_mtu(4096, INT_MIN), -1);
  EXPECT_THAT(choose_path_mtu(4096, 12, std::nullopt).error().what,
              ::testing::HasSubstr("4096 bytes here, 12 bytes at the peer"));
}

TEST(PortSpeed, IsWidthTimesSpeedOfAWire) {
  struct Case {
    int width;
    int speed;
    int mbps;
  };
  constexpr Case kCases[] = {
      {1, 1, 2'500},     {2, 32, 100'000}, {2, 64, 200'000}, {2, 128, 400'000},  {2, 256, 800'000},
      {4, 128, 800'000}, {1, 32, 25'000},  {1, 64, 50'000},  {16, 128, 200'000}, {8, 16, 168'000},
      {2, 8, 40'000},    {2, 2, 20'000},   {1, 4, 10'000}};
  for (const Case& test : kCases) {
    EXPECT_EQ(port_speed_mbps(test.width, test.speed), test.mbps)
        << test.width << " x " << test.speed;
  }
}

TEST(PortSpeed, IsUnknownForUnknownCodes) {
  for (const int code : {0, 3, 512, -1}) {
    EXPECT_EQ(port_speed_mbps(2, code), std::nullopt) << code;
    EXPECT_EQ(port_speed_mbps(code, 128), std::nullopt) << code;
  }
}

TEST(PciPath, IsOnePerCard) {
  EXPECT_EQ(card_pci_path("/sys/devices/pci0000:16/0000:16:01.0/0000:1b:00.1"),
            "/sys/devices/pci0000:16/0000:16:01.0/0000:1b:00.0");
  EXPECT_EQ(card_pci_path("/sys/devices/pci0000:16/0000:1b:00.0"),
            "/sys/devices/pci0000:16/0000:1b:00.0");
  EXPECT_EQ(card_pci_path("/sys/devices/10001:1b:00.1"), "/sys/devices/10001:1b:00.0");
}

TEST(PciPath, IsEmptyForDevicesOutsideOfPci) {
  for (const char* path : {"", "/", "/sys/devices/virtual/net/eth0", "/sys/devices/0000:1b:00.g",
                           "/sys/devices/0000:1b:00", "/sys/devices/0000-1b:00.0", "soft_0",
                           "/sys/devices/pci0000:16/0000:1b:00.1/"}) {
    EXPECT_EQ(card_pci_path(path), "") << path;
  }
}

}  // namespace
}  // namespace rocelane::net
