#include "bench/statistics.h"

#include <gtest/gtest.h>

#include "bench/repetition.h"

namespace rocelane::bench {
namespace {

TEST(Quartiles, AreThoseOfTheValuesInAnyOrder) {
  const Quartiles values = quartiles({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(values.first, 2);
  EXPECT_DOUBLE_EQ(values.median, 3);
  EXPECT_DOUBLE_EQ(values.third, 4);
  EXPECT_DOUBLE_EQ(values.spread(), 2.0 / 3);
}

TEST(Quartiles, LieBetweenTwoValues) {
  EXPECT_DOUBLE_EQ(quartiles({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.95), 9.5);
}

TEST(Quartiles, OfOneValueAreTheValue) {
  const Quartiles values = quartiles({7});
  EXPECT_DOUBLE_EQ(values.first, 7);
  EXPECT_DOUBLE_EQ(values.third, 7);
  EXPECT_DOUBLE_EQ(values.spread(), 0);
}

TEST(Quartiles, OfNothingAreZero) {
  EXPECT_DOUBLE_EQ(quartiles({}).median, 0);
  EXPECT_DOUBLE_EQ(quartiles({}).spread(), 0);
}

TEST(Repetitions, FillTheTime) { EXPECT_EQ(repetitions(1.0, 0.01, 10, {1, 100'000}), 1000U); }

TEST(Repetitions, KeepWithinTheirBounds) {
  EXPECT_EQ(repetitions(0.001, 1.0, 10, {16, 100}), 16U);
  EXPECT_EQ(repetitions(1.0, 1e-9, 10, {16, 100}), 100U);
  EXPECT_EQ(repetitions(1.0, 0, 10, {16, 100}), 100U);
}

}  // namespace
}  // namespace rocelane::bench
