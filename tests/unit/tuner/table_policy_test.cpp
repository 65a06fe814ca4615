#include "tuner/policy/table_policy.h"

#include <gtest/gtest.h>

namespace rocelane::tuner {
namespace {

const Choice kTree{"TREE", "LL", 8};
const Choice kRing{"RING", "SIMPLE", 8};
const Choice kOnlyBelow{"TREE", "SIMPLE", 8};

Grid measured() {
  Grid grid;
  grid[1024].time_us = {{kTree, 10}, {kRing, 40}, {kOnlyBelow, 1}};
  grid[4096].time_us = {{kTree, 40}, {kRing, 40}};
  grid[16384].time_us = {{kTree, 160}, {kRing, 80}};
  return grid;
}

TEST(TablePolicy, InterpolatesInLogarithms) {
  const auto estimates = estimate_times(measured(), 2048);
  EXPECT_NEAR(estimates.at(kTree), 20, 1e-9);
  EXPECT_NEAR(estimates.at(kRing), 40, 1e-9);
}

TEST(TablePolicy, LeavesOutWhatWasMeasuredOnOneSideOnly) {
  EXPECT_FALSE(estimate_times(measured(), 2048).contains(kOnlyBelow));
  EXPECT_TRUE(estimate_times(measured(), 1024).contains(kOnlyBelow));
}

TEST(TablePolicy, HasNoOpinionOutsideTheMeasuredSizes) {
  EXPECT_FALSE(choose_from_table(measured(), 512, kTree, 0).has_value());
  EXPECT_FALSE(choose_from_table(measured(), 32768, kTree, 0).has_value());
  EXPECT_FALSE(choose_from_table({}, 1024, kTree, 0).has_value());
}

TEST(TablePolicy, LeavesTheDefaultOnlyForMoreThanTheMargin) {
  EXPECT_EQ(choose_from_table(measured(), 16384, kTree, 0.49), kRing);
  EXPECT_FALSE(choose_from_table(measured(), 16384, kTree, 0.5).has_value());
  EXPECT_FALSE(choose_from_table(measured(), 16384, kRing, 0).has_value());
}

TEST(TablePolicy, ChoosesBetweenSizesWhatWonOnBothSides) {
  EXPECT_EQ(choose_from_table(measured(), 8192, kTree, 0), kRing);
}

TEST(TablePolicy, KeepsTheDefaultBetweenSizesWhereThePairCrosses) {
  Grid grid = measured();
  grid[4096].time_us[kRing] = 41;
  EXPECT_FALSE(choose_from_table(grid, 8192, kTree, 0).has_value());
}

TEST(TablePolicy, DoesNothingWhenTheDefaultWasNeverMeasured) {
  EXPECT_FALSE(choose_from_table(measured(), 16384, {"NVLS", "SIMPLE", 8}, 0).has_value());
}

}  // namespace
}  // namespace rocelane::tuner
