#include "bench/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Paths, AreTheLinksFromLeavesToSpines) {
  EXPECT_THAT(uplink_bytes(R"({"links": [
    {"name": "host1/soft_0>leaf1", "counters": {"bytes": 1}},
    {"name": "leaf1>spine1", "counters": {"bytes": 20}},
    {"name": "spine1>leaf1", "counters": {"bytes": 3}},
    {"name": "leaf1>spine2", "counters": {"bytes": 40}}]})"),
              ElementsAre(20, 40));
}

TEST(Paths, AreNoneWithoutSpines) {
  EXPECT_THAT(uplink_bytes(R"({"links": []})"), IsEmpty());
  EXPECT_THAT(uplink_bytes("{}"), IsEmpty());
  EXPECT_THAT(uplink_bytes("not JSON"), IsEmpty());
}

TEST(Paths, AreComparedByTheFullest) {
  EXPECT_DOUBLE_EQ(fullest_to_mean({10, 10, 10, 10}), 1);
  EXPECT_DOUBLE_EQ(fullest_to_mean({40, 0, 0, 0}), 4);
  EXPECT_DOUBLE_EQ(fullest_to_mean({0, 0}), 0);
  EXPECT_DOUBLE_EQ(fullest_to_mean({}), 0);
}

}  // namespace
}  // namespace rocelane::bench
