#include "net/transfer/lane_choice.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/transfer/stripe_plan.h"

namespace rocelane::net {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr size_t kKiB = 1024;
constexpr size_t kSmallest = 128 * kKiB;

using Loads = std::vector<uint64_t>;

std::vector<std::pair<uint32_t, size_t>> shared_out(size_t bytes, uint32_t parts,
                                                    const Loads& loads, uint32_t first = 0) {
  const LaneShares shares = share_out(bytes, parts, loads, first, kSmallest);
  std::vector<std::pair<uint32_t, size_t>> result;
  for (uint32_t i = 0; i < shares.count; ++i) {
    result.emplace_back(shares.parts.at(i).lane, shares.parts.at(i).bytes);
  }
  return result;
}

TEST(LaneChoice, IdleLanesTakeTurns) {
  const Loads idle(3, 0);
  EXPECT_EQ(least_loaded(idle, 0), 0U);
  EXPECT_EQ(least_loaded(idle, 1), 1U);
  EXPECT_EQ(least_loaded(idle, 2), 2U);
}

TEST(LaneChoice, TheLeastLoadedLaneIsTakenWhoeverHasTheTurn) {
  const Loads loads{300, 100, 200};
  for (uint32_t first = 0; first < loads.size(); ++first) {
    EXPECT_EQ(least_loaded(loads, first), 1U) << first;
  }
}

TEST(LaneChoice, AMessageIsCutEquallyOverIdleLanes) {
  EXPECT_THAT(shared_out(512 * kKiB, 2, {0, 0, 0}, 1),
              ElementsAre(Pair(1, 256 * kKiB), Pair(2, 256 * kKiB)));
}

TEST(LaneChoice, ALittleDifferenceDoesNotMoveLoad) {
  EXPECT_THAT(shared_out(512 * kKiB, 2, {kSmallest - 1, 0}),
              ElementsAre(Pair(1, 256 * kKiB), Pair(0, 256 * kKiB)));
}

TEST(LaneChoice, LoadsAreLevelled) {
  EXPECT_THAT(shared_out(1024 * kKiB, 2, {512 * kKiB, 0}),
              ElementsAre(Pair(1, 768 * kKiB), Pair(0, 256 * kKiB)));
}

TEST(LaneChoice, AFullLaneGetsNothing) {
  EXPECT_THAT(shared_out(256 * kKiB, 2, {8192 * kKiB, 0}), ElementsAre(Pair(1, 256 * kKiB)));
  EXPECT_THAT(shared_out(512 * kKiB, 3, {8192 * kKiB, 0, 0}),
              ElementsAre(Pair(1, 256 * kKiB), Pair(2, 256 * kKiB)));
}

TEST(LaneChoice, EveryMessageIsCoveredByAlignedPartsOnDifferentLanes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50'000; ++round) {
    Loads loads(1 + random() % kMaxDataLanes);
    std::generate(loads.begin(), loads.end(), [&] { return random() >> (30 + random() % 34); });
    const size_t bytes = 1 + (random() >> (34 + random() % 30));
    const auto parts = static_cast<uint32_t>(1 + random() % loads.size());
    const auto first = static_cast<uint32_t>(random() % loads.size());
    const auto shares = shared_out(bytes, parts, loads, first);
    ASSERT_GE(shares.size(), 1U);
    ASSERT_LE(shares.size(), parts);
    size_t sum = 0;
    std::set<uint32_t> lanes;
    for (size_t i = 0; i < shares.size(); ++i) {
      ASSERT_GT(shares[i].second, 0U);
      ASSERT_TRUE(i + 1 == shares.size() || shares[i].second % kStripeAlignmentBytes == 0);
      ASSERT_LT(shares[i].first, loads.size());
      sum += shares[i].second;
      lanes.insert(shares[i].first);
    }
    ASSERT_EQ(sum, bytes);
    ASSERT_EQ(lanes.size(), shares.size()) << "a lane got two parts";
  }
}

// Two lanes, one of them four times as fast, a full window of messages.
TEST(LaneChoice, WhatALaneGetsFollowsItsSpeed) {
  constexpr size_t kMessage = 4096 * kKiB;
  const std::vector<uint64_t> speeds{128 * kKiB, 512 * kKiB};  // of a step
  Loads loads(2, 0);
  std::vector<uint64_t> taken(2, 0);
  for (int step = 0; step < 4000; ++step) {
    if (loads[0] + loads[1] < 4 * kMessage) {
      for (const auto& [lane, bytes] : shared_out(kMessage, 2, loads)) {
        loads[lane] += bytes;
        taken[lane] += bytes;
      }
    }
    for (size_t lane = 0; lane < 2; ++lane) {
      loads[lane] -= std::min(loads[lane], speeds[lane]);
    }
  }
  const double ratio = static_cast<double>(taken[1]) / static_cast<double>(taken[0]);
  EXPECT_NEAR(ratio, 4, 0.2);
}

}  // namespace
}  // namespace rocelane::net
