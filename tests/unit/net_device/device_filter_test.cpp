#include "net/device/device_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

DeviceFilter filter(std::string_view text) {
  Result<DeviceFilter> parsed = parse_device_filter(text, "NCCL_IB_HCA=" + std::string(text));
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().what);
  return parsed.ok() ? *parsed : DeviceFilter{};
}

std::string mistake(std::string_view text) {
  const Result<DeviceFilter> parsed = parse_device_filter(text, "NCCL_IB_HCA");
  EXPECT_FALSE(parsed.ok()) << text;
  return parsed.ok() ? "" : parsed.error().what;
}

struct Case {
  const char* text;
  const char* device;
  int port;
  bool selected;
};

TEST(DeviceFilter, SelectsAsNcclUsersExpect) {
  constexpr Case kCases[] = {
      {"", "mlx5_0", 1, true},
      {"mlx5_1", "mlx5_1", 1, true},
      {"mlx5_1", "mlx5_10", 1, true},  // a prefix
      {"mlx5_1", "mlx5_0", 1, false},
      {"mlx5", "mlx5_7", 2, true},
      {"=mlx5_1", "mlx5_1", 1, true},
      {"=mlx5_1", "mlx5_10", 1, false},
      {"^mlx5_1", "mlx5_1", 1, false},
      {"^mlx5_1", "mlx5_12", 1, false},
      {"^mlx5_1", "mlx5_0", 1, true},
      {"^=mlx5_1", "mlx5_1", 1, false},
      {"^=mlx5_1", "mlx5_10", 1, true},
      {"mlx5_0:1", "mlx5_0", 1, true},
      {"mlx5_0:1", "mlx5_0", 2, false},
      {"^mlx5_0:2", "mlx5_0", 1, true},
      {"^mlx5_0:2", "mlx5_0", 2, false},
      {"mlx5_0,mlx5_3", "mlx5_3", 1, true},
      {"mlx5_0,mlx5_3", "mlx5_2", 1, false},
      {" mlx5_0 , mlx5_3:1 ", "mlx5_3", 1, true},
      {"mlx5_0,,mlx5_3,", "mlx5_3", 1, true},
      {"mlx5_0::2", "mlx5_0", 4, true},  // any port, rail 2
      {"mlx5_0:", "mlx5_0", 4, true},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(selects(filter(test.text), test.device, test.port), test.selected)
        << test.text << " on " << test.device << ":" << test.port;
  }
}

TEST(DeviceFilter, KnowsRailAndPlane) {
  const DeviceFilter parsed = filter("=mlx5_0:1:4:2,mlx5_1::5,mlx5_2");
  const DeviceFilterEntry* first = matching_entry(parsed, "mlx5_0", 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->rail, 4);
  EXPECT_EQ(first->plane, 2);
  const DeviceFilterEntry* second = matching_entry(parsed, "mlx5_1", 9);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->port, std::nullopt);
  EXPECT_EQ(second->rail, 5);
  EXPECT_EQ(matching_entry(parsed, "mlx5_2", 1)->rail, std::nullopt);
  EXPECT_EQ(matching_entry(parsed, "mlx5_3", 1), nullptr);
}

TEST(DeviceFilter, ExplainsWhatItCannotRead) {
  EXPECT_THAT(mistake("mlx5_0:x"),
              AllOf(StartsWith("NCCL_IB_HCA: 'x' in 'mlx5_0:x'"), HasSubstr("is not a number")));
  EXPECT_THAT(mistake("mlx5_0:-1"), HasSubstr("is not a number"));
  EXPECT_THAT(mistake("mlx5_0:99999999999999999999"), HasSubstr("is not a number"));
  EXPECT_THAT(mistake("mlx5_0:1:2:3:4"), HasSubstr("more than 3 numbers"));
  EXPECT_THAT(mistake("mlx5_0:1:2:3:"), HasSubstr("more than 3 numbers"));
  EXPECT_THAT(mistake(":1"), HasSubstr("no name before the colon"));
  EXPECT_THAT(mistake("^"), HasSubstr("the list has no name"));
  EXPECT_THAT(mistake("="), HasSubstr("the list has no name"));
  EXPECT_THAT(mistake(","), HasSubstr("the list has no name"));
  EXPECT_THAT(mistake("=^mlx5_0"), HasSubstr("before the whole list"));
  EXPECT_THAT(mistake("mlx5_0,^mlx5_1"), HasSubstr("before the whole list"));
}

TEST(DeviceFilter, RefusesAnEndlessList) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "a,";
  }
  EXPECT_THAT(mistake(text), HasSubstr("more than 256 entries"));
}

TEST(DeviceFilter, ListsThePortsThereAreWhenItSelectsNone) {
  const std::vector<PortFacts> ports{port_with({}, "mlx5_0"), port_with({}, "mlx5_1", 2)};
  EXPECT_EQ(selects_nothing(filter("mlx6_0"), ports),
            "NCCL_IB_HCA=mlx6_0 selects none of the RDMA ports here (mlx5_0:1, mlx5_1:2); correct "
            "or unset it");
}

}  // namespace
}  // namespace rocelane::net
