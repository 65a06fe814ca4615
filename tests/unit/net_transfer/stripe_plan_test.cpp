#include "net/transfer/stripe_plan.h"

#include <random>

#include <gtest/gtest.h>

#include "net/transfer/stripe_immediate.h"

namespace rocelane::net {
namespace {

constexpr size_t kEightMiB = size_t{8} << 20;

constexpr StripeLimits kLimits{size_t{64} * 1024, kEightMiB};

size_t covered_bytes(size_t bytes, const StripePlan& plan) {
  return std::min(bytes, plan.stripes * plan.stripe_bytes);
}

TEST(StripePlan, AnEmptyMessageIsOneEmptyStripe) {
  const StripePlan plan = plan_stripes(0, 4, kLimits);
  EXPECT_EQ(plan.stripes, 1U);
  EXPECT_EQ(plan.stripe_bytes, 0U);
}

TEST(StripePlan, ASmallMessageTakesOneLane) {
  EXPECT_EQ(plan_stripes(1, 4, kLimits).stripes, 1U);
  EXPECT_EQ(plan_stripes(2 * kLimits.smallest_bytes - 1, 4, kLimits).stripes, 1U);
  EXPECT_EQ(plan_stripes(2 * kLimits.smallest_bytes, 4, kLimits).stripes, 2U);
}

TEST(StripePlan, AMessageAboveTheWorkRequestLimitIsCutAlsoOnOneLane) {
  const StripePlan plan = plan_stripes(kEightMiB + 1, 1, kLimits);
  EXPECT_EQ(plan.stripes, 2U);
  EXPECT_LE(plan.stripe_bytes, kEightMiB);
}

TEST(StripePlan, TheLargestMessageFitsTheStripeNumbers) {
  const size_t largest = max_message_bytes(kEightMiB);
  EXPECT_EQ(largest, size_t{1} << 30);
  EXPECT_EQ(plan_stripes(largest, 16, kLimits).stripes, kMaxStripes);
}

TEST(StripePlan, EveryPlanCoversTheMessageWithAlignedFullStripes) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20000; ++round) {
    const size_t limit = size_t{4096} << random() % 12;
    const StripeLimits limits{size_t{128} << random() % 14, limit};
    const size_t lanes = 1 + random() % 16;
    const size_t bytes = random() % (max_message_bytes(limit) + 1);
    const StripePlan plan = plan_stripes(bytes, lanes, limits);
    ASSERT_GE(plan.stripes, 1U) << bytes << " on " << lanes << " limit " << limit;
    ASSERT_LE(plan.stripes, kMaxStripes) << bytes << " on " << lanes << " limit " << limit;
    ASSERT_LE(plan.stripe_bytes, limit) << bytes << " on " << lanes;
    ASSERT_EQ(plan.stripe_bytes % kStripeAlignmentBytes, 0U);
    ASSERT_EQ(covered_bytes(bytes, plan), bytes) << bytes << " on " << lanes << " limit " << limit;
    if (bytes > 0) {
      ASSERT_LT((plan.stripes - 1) * plan.stripe_bytes, bytes) << "an empty last stripe";
    }
  }
}

}  // namespace
}  // namespace rocelane::net
