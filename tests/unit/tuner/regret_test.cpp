#include "tuner/policy/regret.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rocelane::tuner {
namespace {

TEST(Regret, ComparesWithTheBestAndWithTheDefault) {
  const auto regret = summarize({{10, 10, 10}, {20, 10, 10}, {20, 40, 10}, {10, 20, 10}});
  ASSERT_TRUE(regret.ok());
  EXPECT_NEAR(regret->geometric, std::sqrt(2.0) - 1, 1e-9);
  EXPECT_NEAR(regret->worst, 1, 1e-9);
  EXPECT_NEAR(regret->percentile_95, 1, 1e-9);
  EXPECT_NEAR(regret->worse_share, 0.25, 1e-9);
  EXPECT_NEAR(regret->worst_switch, 1, 1e-9);
  EXPECT_EQ(regret->sizes, 4U);
}

TEST(Regret, ToleratesTwoPercent) {
  EXPECT_EQ(summarize({{101.9, 100, 100}})->worse_share, 0);
  EXPECT_EQ(summarize({{102.1, 100, 100}})->worse_share, 1);
}

TEST(Regret, RefusesToJudgeNothing) { EXPECT_FALSE(summarize({}).ok()); }

}  // namespace
}  // namespace rocelane::tuner
