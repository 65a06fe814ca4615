// Which pairs of ports lanes go over, in tables.

#include "net/connection/lane_pairing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "net/connection/handshake_message.h"

namespace rocelane::net {
namespace {

using Rails = std::vector<uint8_t>;
using Speeds = std::vector<int>;

constexpr int k400G = 400'000;
constexpr int k100G = 100'000;

// Lanes by (dialer's rail, listener's rail).
using Pairs = std::map<std::pair<int, int>, int>;

Pairs pairs_of(const Speeds& dialer, const Speeds& listener, int lanes_a_rail) {
  const Rails theirs = spread_lanes(dialer, listener.size(), lanes_a_rail);
  const Rails ours = match_lanes(theirs, listener);
  EXPECT_EQ(ours.size(), theirs.size());
  Pairs pairs;
  for (size_t i = 0; i < theirs.size(); ++i) {
    ++pairs[{theirs[i], ours[i]}];
  }
  return pairs;
}

TEST(LanePairing, OnePortAtEachEndHasTheLanesThatWereAskedFor) {
  for (int lanes = 1; lanes < kMaxDataLanes; ++lanes) {
    EXPECT_EQ(spread_lanes(Speeds{k400G}, 1, lanes), Rails(static_cast<size_t>(lanes), 0));
  }
  EXPECT_EQ(spread_lanes(Speeds{k400G}, 1, 100).size(), size_t{kMaxDataLanes - 1});
  EXPECT_EQ(match_lanes(Rails{0, 0}, Speeds{k400G}), (Rails{0, 0}));
}

TEST(LanePairing, EqualPortsMeetThoseOfTheirOwnNumberAndNeighbouringLanesDiffer) {
  EXPECT_EQ(spread_lanes(Speeds{k400G, k400G}, 2, 2), (Rails{0, 1, 0, 1}));
  for (size_t ports = 1; ports <= kMostRails; ++ports) {
    const Speeds speeds(ports, k400G);
    const Pairs pairs = pairs_of(speeds, speeds, 2);
    EXPECT_EQ(pairs.size(), ports);
    for (const auto& [pair, lanes] : pairs) {
      EXPECT_EQ(pair.first, pair.second);
      EXPECT_EQ(lanes, ports < kMostRails ? 2 : 1) << "as many as fit";
    }
  }
}

TEST(LanePairing, MoreLanesThanFitLeaveEqualPortsEqual) {
  EXPECT_EQ(pairs_of({k400G, k400G}, {k400G, k400G}, 8), (Pairs{{{0, 0}, 7}, {{1, 1}, 7}}));
}

TEST(LanePairing, UnequalCountsLoadEveryPortOfAnEndAlike) {
  EXPECT_EQ(pairs_of({k400G, k400G}, {k400G}, 1), (Pairs{{{0, 0}, 1}, {{1, 0}, 1}}));
  EXPECT_EQ(pairs_of({k400G}, {k400G, k400G}, 1), (Pairs{{{0, 0}, 1}, {{0, 1}, 1}}));
  EXPECT_EQ(pairs_of({k400G, k400G, k400G}, {k400G, k400G}, 2),
            (Pairs{{{0, 0}, 2}, {{1, 0}, 1}, {{1, 1}, 1}, {{2, 1}, 2}}));
  EXPECT_EQ(pairs_of({k400G, k400G}, {k400G, k400G, k400G}, 2),
            (Pairs{{{0, 0}, 2}, {{0, 1}, 1}, {{1, 1}, 1}, {{1, 2}, 2}}));
}

TEST(LanePairing, LanesAreInProportionToSpeeds) {
  EXPECT_EQ(pairs_of({k400G, k100G}, {k400G, k100G}, 2), (Pairs{{{0, 0}, 8}, {{1, 1}, 2}}));
  EXPECT_EQ(pairs_of({k400G}, {k400G, k100G}, 15), (Pairs{{{0, 0}, 11}, {{0, 1}, 3}}));
}

TEST(LanePairing, APortTooSlowForALaneGetsNone) {
  const Rails rails = spread_lanes(Speeds{k400G, 1'000}, 2, 2);
  EXPECT_EQ(std::count(rails.begin(), rails.end(), 1), 0);
  EXPECT_EQ(rails.size(), size_t{kMaxDataLanes - 1});
}

// Whatever the speeds. Counts are whole, so a lane up or down is as good as it gets for most.
TEST(LanePairing, SharesAreRightToWithinTwoLanes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const auto speeds = [&random] {
      Speeds result(1 + random() % kMostRails);
      std::generate(result.begin(), result.end(),
                    [&random] { return static_cast<int>(10'000 * (1 + random() % 80)); });
      return result;
    };
    const Speeds dialer = speeds();
    const Speeds listener = speeds();
    const int lanes = static_cast<int>(1 + random() % 16);
    const Rails theirs = spread_lanes(dialer, listener.size(), lanes);
    ASSERT_GE(theirs.size(), size_t{1});
    ASSERT_LT(theirs.size(), size_t{kMaxDataLanes});
    const auto check = [&](const Rails& rails, const Speeds& own) {
      const double total = std::accumulate(own.begin(), own.end(), 0.0);
      for (size_t rail = 0; rail < own.size(); ++rail) {
        const auto count = static_cast<double>(std::count(rails.begin(), rails.end(), rail));
        const double share = static_cast<double>(rails.size()) * own[rail] / total;
        ASSERT_LT(std::abs(count - share), 2.0) << "rail " << rail;
      }
    };
    check(theirs, dialer);
    check(match_lanes(theirs, listener), listener);
  }
}

// What a hostile dialer says about its rails moves lanes about and does nothing else.
TEST(LanePairing, AnyRailsOfThePeersAreMatched) {
  EXPECT_EQ(match_lanes(Rails{7, 7, 0, 0}, Speeds{k400G, k400G}), (Rails{1, 1, 0, 0}));
  EXPECT_EQ(match_lanes(Rails{3}, Speeds{k100G, k400G, k100G}), (Rails{1}));
}

}  // namespace
}  // namespace rocelane::net
