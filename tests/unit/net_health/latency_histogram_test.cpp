#include "net/health/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rocelane::telemetry {
namespace {

TEST(LatencyBucket, HoldsWhatItsFloorPromises) {
  for (uint32_t bucket = 1; bucket < kLatencyBuckets; ++bucket) {
    EXPECT_EQ(latency_bucket(latency_bucket_floor(bucket)), bucket);
    EXPECT_EQ(latency_bucket(latency_bucket_floor(bucket) - 1), bucket - 1);
  }
}

TEST(LatencyBucket, CoversFrom256NanosecondsTo64Seconds) {
  EXPECT_EQ(latency_bucket(0), 0U);
  EXPECT_EQ(latency_bucket_floor(1), 256U);
  EXPECT_EQ(latency_bucket_floor(kLatencyBuckets - 1), uint64_t{1} << 36);
  EXPECT_LT(latency_bucket(64'000'000'000), kLatencyBuckets - 1);
}

TEST(LatencyHistogram, HasNoQuantileWhenNothingWasCounted) {
  EXPECT_EQ(LatencyHistogram().quantile(0.5), std::nullopt);
}

TEST(LatencyHistogram, SaysNoMoreThanAndNoLessThanOutsideItsRange) {
  LatencyHistogram short_ones;
  short_ones.add(3);
  EXPECT_EQ(short_ones.quantile(0.5), 256U);
  LatencyHistogram long_ones;
  long_ones.add(UINT64_MAX);
  EXPECT_EQ(long_ones.quantile(0.5), uint64_t{1} << 36);
}

TEST(LatencyHistogram, AnswersWithTheFirstAndTheLastAtTheEnds) {
  LatencyHistogram histogram;
  histogram.add(1'000);
  histogram.add(1'000'000, 98);
  histogram.add(1'000'000'000);
  EXPECT_NEAR(static_cast<double>(*histogram.quantile(0)), 1e3, 32);
  EXPECT_NEAR(static_cast<double>(*histogram.quantile(0.99)), 1e6, 32e3);
  EXPECT_NEAR(static_cast<double>(*histogram.quantile(1)), 1e9, 32e6);
  EXPECT_EQ(histogram.quantile(7), histogram.quantile(1));
  EXPECT_EQ(histogram.quantile(-1), histogram.quantile(0));
}

TEST(LatencyHistogram, IsWithin3Point2PercentOfTheExactPercentiles) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    // Medians from about 1 µs to 1 s, from narrow to very long tails.
    std::lognormal_distribution<double> latency(
        std::uniform_real_distribution<double>(7, 20)(random),
        std::uniform_real_distribution<double>(0.01, 2)(random));
    std::vector<uint64_t> exact(std::uniform_int_distribution<size_t>(1, 5'000)(random));
    LatencyHistogram histogram;
    for (uint64_t& nanoseconds : exact) {
      nanoseconds = static_cast<uint64_t>(std::clamp(latency(random), 256.0, 6.8e10));
      histogram.add(nanoseconds);
    }
    std::sort(exact.begin(), exact.end());
    for (const double quantile : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const double rank = std::ceil(quantile * static_cast<double>(exact.size()));
      const auto right = static_cast<double>(exact[static_cast<size_t>(std::max(rank, 1.0)) - 1]);
      const auto answer = static_cast<double>(*histogram.quantile(quantile));
      EXPECT_LE(std::abs(answer - right), right / 32 + 1)
          << "quantile " << quantile << " of " << exact.size() << " in round " << round;
    }
  }
}

TEST(LatencyHistogram, OfAnIntervalIsTheDifferenceOfTwoReadings) {
  LatencyHistogram earlier;
  earlier.add(1'000, 1'000'000);
  LatencyHistogram later = earlier;
  later.add(5'000'000, 10);
  const LatencyHistogram interval = later.since(earlier);
  EXPECT_EQ(interval.count(), 10U);
  EXPECT_GT(*interval.quantile(0.01), 4'800'000U);
  EXPECT_LT(*later.quantile(0.99), 2'000U);
}

TEST(LatencyHistogram, CountsNothingForBucketsThatShrank) {
  LatencyHistogram earlier;
  earlier.add(1'000, 5);
  EXPECT_EQ(LatencyHistogram().since(earlier).count(), 0U);
}

TEST(LatencyHistogram, OfSeveralLanesIsTheirSum) {
  LatencyHistogram sum;
  LatencyHistogram lane;
  lane.add(1'000, 3);
  sum += lane;
  sum += lane;
  EXPECT_EQ(sum.count(), 6U);
  EXPECT_EQ(sum.since(lane), lane);
}

}  // namespace
}  // namespace rocelane::telemetry
