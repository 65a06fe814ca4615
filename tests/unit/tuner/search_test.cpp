#include "tuner/policy/search.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

namespace rocelane::tuner {
namespace {

const SearchSpace kSpace{{"RING", "TREE"}, {"LL", "SIMPLE"}, {1, 2, 4, 8, 16}};

double one_valley(const Choice& choice) {
  return (choice.algorithm == "RING" ? 10 : 20) + (choice.protocol == "SIMPLE" ? 1 : 5) +
         std::abs(choice.channels - 4);
}

double two_valleys(const Choice& choice) { return choice.channels == 1 ? 5 : 40 - choice.channels; }

TEST(Search, FindsTheBottomOfOneValleyAndMeasuresNothingTwice) {
  std::map<Choice, int> measured;
  const auto found = search_choice(
      {"TREE", "LL", 16}, kSpace,
      [&](const Choice& choice) {
        ++measured[choice];
        return std::optional(one_valley(choice));
      },
      100);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->choice, (Choice{"RING", "SIMPLE", 4}));
  EXPECT_EQ(found->time_us, 11);
  EXPECT_EQ(found->measurements, measured.size());
  EXPECT_LT(measured.size(), 20U);
  for (const auto& [choice, times] : measured) {
    EXPECT_EQ(times, 1) << choice.algorithm << choice.protocol << choice.channels;
  }
}

TEST(Search, FindsASecondValleyAtOneChannel) {
  const auto found = search_choice(
      {"RING", "SIMPLE", 8}, kSpace,
      [](const Choice& choice) { return std::optional(two_valleys(choice)); }, 100);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->choice.channels, 1);
}

TEST(Search, NeverEndsWithMoreThanItsBudgetOrWorseThanItsStart) {
  const Choice start{"TREE", "LL", 16};
  for (size_t budget = 1; budget < 25; ++budget) {
    size_t calls = 0;
    const auto found = search_choice(
        start, kSpace,
        [&](const Choice& choice) {
          ++calls;
          return std::optional(one_valley(choice));
        },
        budget);
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(calls, budget);
    EXPECT_EQ(found->measurements, calls);
    EXPECT_LE(found->time_us, one_valley(start));
  }
}

TEST(Search, PassesOverWhatCannotRunAndRefusesSuchAStart) {
  const Measure only_tree = [](const Choice& choice) -> std::optional<double> {
    if (choice.algorithm != "TREE") {
      return std::nullopt;
    }
    return one_valley(choice);
  };
  EXPECT_EQ(search_choice({"TREE", "LL", 16}, kSpace, only_tree, 100)->choice,
            (Choice{"TREE", "SIMPLE", 4}));
  EXPECT_FALSE(search_choice({"RING", "LL", 16}, kSpace, only_tree, 100).has_value());
  EXPECT_FALSE(search_choice({"TREE", "LL", 16}, kSpace, only_tree, 0).has_value());
}

}  // namespace
}  // namespace rocelane::tuner
