#include "base/nearest_name.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace rocelane {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("INDEX", "INDX"), 1u);
  EXPECT_EQ(edit_distance("lanes", "lanse"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, FindsTheClosestAndPrefersTheEarlierOfTwo) {
  constexpr std::array<std::string_view, 3> kNames{"cat", "car", "dog"};
  EXPECT_EQ(nearest_name("caz", kNames, 2), "cat");
  EXPECT_EQ(nearest_name("carr", kNames, 2), "car");
  EXPECT_EQ(nearest_name("dog", kNames, 0), "dog");
}

TEST(NearestName, FindsNothingBeyondTheLimit) {
  constexpr std::array<std::string_view, 1> kNames{"traffic"};
  EXPECT_EQ(nearest_name("lanes", kNames, 2), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}, 9), std::nullopt);
}

TEST(NearestName, DoesNotCompareNamesThatDifferTooMuchInLength) {
  constexpr std::array<std::string_view, 1> kNames{"traffic"};
  EXPECT_EQ(nearest_name(std::string(1 << 20, 'x'), kNames, 1000), std::nullopt);
}

}  // namespace
}  // namespace rocelane
