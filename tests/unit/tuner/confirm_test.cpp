#include "tuner/policy/confirm.h"

#include <random>

#include <gtest/gtest.h>

namespace rocelane::tuner {
namespace {

const Choice kRing{"RING", "SIMPLE", 8};
const Choice kTree{"TREE", "LL", 8};
constexpr int kRounds = 15;

TEST(Confirm, NeedsIntervalsThatDoNotTouch) {
  EXPECT_TRUE(is_clearly_faster({1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}));
  EXPECT_FALSE(is_clearly_faster({2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}));
  EXPECT_FALSE(is_clearly_faster({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}));
  EXPECT_FALSE(is_clearly_faster({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}));
}

TEST(Confirm, NeverDecidesFromAHandful) {
  EXPECT_FALSE(is_clearly_faster({1, 1, 1, 1}, {9, 9, 9, 9, 9}));
  EXPECT_FALSE(is_clearly_faster({1, 1, 1, 1, 1}, {9, 9, 9, 9}));
}

TEST(Confirm, IsNotMovedByStalls) {
  EXPECT_TRUE(is_clearly_faster({1, 1, 1, 1, 1, 1, 1, 1, 500}, {2, 2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(Confirm, MeasuresInTurnAndGivesUpOnWhatCannotRun) {
  std::vector<Choice> order;
  EXPECT_TRUE(confirm_switch(
      kRing, kTree,
      [&](const Choice& choice) {
        order.push_back(choice);
        return std::optional(choice == kRing ? 1.0 : 2.0);
      },
      kRounds));
  ASSERT_EQ(order.size(), 2U * kRounds);
  for (size_t turn = 0; turn < order.size(); ++turn) {
    EXPECT_EQ(order[turn], turn % 2 == 0 ? kRing : kTree);
  }
  EXPECT_FALSE(confirm_switch(
      kRing, kTree, [](const Choice&) -> std::optional<double> { return std::nullopt; }, kRounds));
}

TEST(Confirm, SwitchesBetweenEqualsRarelyAndToMuchFasterAlmostAlways) {
  constexpr int kTrials = 1000;
  constexpr unsigned kSeed = 20;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  std::lognormal_distribution<double> noise(0, 0.03);
  const auto switches = [&](double challenger_us) {
    int confirmed = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      confirmed +=
          confirm_switch(
              kRing, kTree,
              [&](const Choice& choice) {
                return std::optional((choice == kRing ? challenger_us : 100) * noise(random));
              },
              kRounds)
              ? 1
              : 0;
    }
    return confirmed;
  };
  EXPECT_LT(switches(100), kTrials / 50);
  EXPECT_LT(switches(102), kTrials / 200);
  EXPECT_GT(switches(90), kTrials * 98 / 100);
}

}  // namespace
}  // namespace rocelane::tuner
