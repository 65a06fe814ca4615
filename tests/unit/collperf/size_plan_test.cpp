#include "collperf/size_plan.h"

#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(SizeText, MeansBytesOrPowersOf1024) {
  EXPECT_THAT(parse_size_bytes("8"), Optional(size_t{8}));
  EXPECT_THAT(parse_size_bytes("0"), Optional(size_t{0}));
  EXPECT_THAT(parse_size_bytes("4K"), Optional(size_t{4096}));
  EXPECT_THAT(parse_size_bytes("32M"), Optional(size_t{32} << 20));
  EXPECT_THAT(parse_size_bytes("2g"), Optional(size_t{2} << 30));
  EXPECT_THAT(parse_size_bytes("1.5k"), Optional(size_t{1536}));
}

TEST(SizeText, IsRefusedWhenItIsNoSize) {
  for (const char* text : {"", "K", "-1", "1T", "1KB", "eight", "1e3", "nan", "99999999999G"}) {
    EXPECT_EQ(parse_size_bytes(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(SizePlan, MultipliesUpToTheLargestSize) {
  EXPECT_THAT(planned_sizes({8, 100, 1, 2}), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(planned_sizes({8, 128, 1, 4}), ElementsAre(8, 32, 128));
}

TEST(SizePlan, AddsWhenTheFactorIsOne) {
  EXPECT_THAT(planned_sizes({0, 10, 4, 1}), ElementsAre(0, 4, 8));
}

TEST(SizePlan, HasOneSizeWhenSmallestAndLargestAreEqual) {
  EXPECT_THAT(planned_sizes({0, 0, 1, 2}), ElementsAre(0));
  EXPECT_THAT(planned_sizes({5, 5, 0, 1}), ElementsAre(5));
}

TEST(SizePlan, EndsAtTheLargestRepresentableSize) {
  const size_t largest = ~size_t{0};
  EXPECT_THAT(planned_sizes({largest - 1, largest, 4, 1}), ElementsAre(largest - 1));
}

}  // namespace
}  // namespace rocelane::collperf
