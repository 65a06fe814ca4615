#include <string>

#include <gtest/gtest.h>

#include "description_support.h"
#include "softverbs/description/device_names.h"
#include "softverbs/description/name_pattern.h"

namespace rocelane::softverbs {
namespace {

TEST(NamePattern, StarStandsForAnyCharacters) {
  EXPECT_TRUE(matches("host1/soft_0", "host1/soft_0"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "leaf1"));
  EXPECT_TRUE(matches("host*/soft_0", "host12/soft_0"));
  EXPECT_TRUE(matches("*_1*", "host1/soft_1"));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(matches("a**", "a"));
  EXPECT_TRUE(matches("", ""));
}

TEST(NamePattern, EverythingElseStandsForItself) {
  EXPECT_FALSE(matches("host1", "host1/soft_0"));
  EXPECT_FALSE(matches("host1/*", "host11/soft_0"));
  EXPECT_FALSE(matches("", "leaf1"));
  EXPECT_FALSE(matches("leaf?", "leaf1"));
  EXPECT_FALSE(matches("a*b*c", "a-b-b"));
  EXPECT_FALSE(matches("leaf1", "leaf"));
}

TEST(NamePattern, ManyStarsStayCheap) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(matches(pattern + "b", std::string(4000, 'a')));
  EXPECT_TRUE(matches(pattern, std::string(4000, 'a')));
}

TEST(LinkPattern, SaysTheDirection) {
  const LinkPattern both = parse_link_pattern("leaf1-spine2");
  EXPECT_EQ(both.from, "leaf1");
  EXPECT_EQ(both.to, "spine2");
  EXPECT_TRUE(both.both_directions);

  const LinkPattern one = parse_link_pattern("spine2>leaf1");
  EXPECT_EQ(one.from, "spine2");
  EXPECT_EQ(one.to, "leaf1");
  EXPECT_FALSE(one.both_directions);

  const LinkPattern all = parse_link_pattern("spine2");
  EXPECT_EQ(all.from, "spine2");
  EXPECT_EQ(all.to, std::nullopt);
  EXPECT_TRUE(all.both_directions);
}

TEST(DeviceNames, FindNumbers) {
  const RunDescription run = run_of("hosts = { count = 12, rails = 2 }");
  EXPECT_EQ(devices_named("host1/soft_1", run.devices), std::vector<int>{1});
  EXPECT_EQ(devices_named("host1*/soft_0", run.devices), (std::vector<int>{0, 18, 20, 22}));
  EXPECT_EQ(devices_named("*", run.devices).size(), 24u);
  EXPECT_TRUE(devices_named("host13/*", run.devices).empty());
}

}  // namespace
}  // namespace rocelane::softverbs
