#include "bench/placing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

using nccl_host::Route;
using nccl_host::Traffic;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kFour{"soft_0", "soft_1", "soft_2", "soft_3"};

TEST(TwoPlaces, AreTheFirstDevicesAndTheNext) {
  EXPECT_THAT(*choose_two_places(kFour, {}, 1, "Net"), ElementsAre(Place{0}, Place{1}));
  EXPECT_THAT(*choose_two_places(kFour, {}, 2, "Net"), ElementsAre(Place{0, 1}, Place{2, 3}));
}

TEST(TwoPlaces, AreOnTwoHostsWhereNamesTellThemApart) {
  const std::vector<std::string> devices{"host1/a", "host1/b", "host2/a", "host2/b"};
  EXPECT_THAT(*choose_two_places(devices, {}, 1, "Net"), ElementsAre(Place{0}, Place{2}));
  EXPECT_THAT(*choose_two_places(devices, {}, 2, "Net"), ElementsAre(Place{0, 1}, Place{2, 3}));
  EXPECT_THAT(*choose_two_places({"host1/a", "host1/b"}, {}, 1, "Net"),
              ElementsAre(Place{0}, Place{1}));
}

TEST(TwoPlaces, AreTheSameWhereThereAreTooFewDevices) {
  EXPECT_THAT(*choose_two_places(kFour, {}, 3, "Net"), ElementsAre(Place{0, 1, 2}, Place{0, 1, 2}));
  EXPECT_THAT(*choose_two_places({"mlx5_0"}, {}, 1, "Net"), ElementsAre(Place{0}, Place{0}));
}

TEST(TwoPlaces, AreNamedByNameOrNumber) {
  EXPECT_THAT(*choose_two_places(kFour, {"soft_3+0", "2"}, 1, "Net"),
              ElementsAre(Place{3, 0}, Place{2}));
}

TEST(TwoPlaces, AreRefusedWhenThereIsNoSuchDevice) {
  EXPECT_THAT(choose_two_places(kFour, {"soft_0", "soft_9"}, 1, "Net").error().what,
              HasSubstr("names 'soft_9', but Net has soft_0, soft_1"));
  EXPECT_THAT(choose_two_places(kFour, {"soft_0+", "1"}, 1, "Net").error().what,
              HasSubstr("names ''"));
  EXPECT_THAT(choose_two_places(kFour, {}, 5, "Net").error().what, HasSubstr("--rails 5 is more"));
}

TEST(RoutesBetweenHosts, StayOnARail) {
  const std::vector<std::string> devices{"host1/a", "host1/b",  "host2/a",
                                         "host2/b", "host10/a", "host10/b"};
  EXPECT_THAT(
      *routes_between_hosts(devices, Traffic::kRing),
      ElementsAre(Route{0, 2}, Route{2, 4}, Route{4, 0}, Route{1, 3}, Route{3, 5}, Route{5, 1}));
  EXPECT_EQ(routes_between_hosts(devices, Traffic::kAllToAll)->size(), 12U);
}

TEST(RoutesBetweenHosts, NeedHosts) {
  EXPECT_THAT(routes_between_hosts({"soft_0"}, Traffic::kRing).error().what,
              HasSubstr("found 'soft_0'"));
  EXPECT_THAT(routes_between_hosts({"hostel/soft_0"}, Traffic::kRing).error().what,
              HasSubstr("found 'hostel/soft_0'"));
  EXPECT_THAT(routes_between_hosts({"host1/soft_0"}, Traffic::kRing).error().what,
              HasSubstr("at least two hosts"));
}

}  // namespace
}  // namespace rocelane::bench
