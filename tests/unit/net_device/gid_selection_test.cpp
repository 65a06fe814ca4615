#include "net/device/gid_selection.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLinkLocal = "fe80::200:5eff:fe00:a01";

int chosen_index(const PortFacts& port, const Environment& environment = {}) {
  const Result<GidEntry> gid = choose_gid(port, gid_wishes(settings_with(environment)));
  EXPECT_TRUE(gid.ok()) << (gid.ok() ? "" : gid.error().what);
  return gid.ok() ? gid->index : -1;
}

std::string refusal(const PortFacts& port, const Environment& environment = {}) {
  const Result<GidEntry> gid = choose_gid(port, gid_wishes(settings_with(environment)));
  EXPECT_FALSE(gid.ok());
  return gid.ok() ? "" : gid.error().what;
}

std::vector<int> ranked_indexes(const PortFacts& port, const Environment& environment = {}) {
  std::vector<int> indexes;
  for (const GidEntry& gid : rank_gids(port, gid_wishes(settings_with(environment)))) {
    indexes.push_back(gid.index);
  }
  return indexes;
}

PortFacts usual_port() {
  return port_with({entry(0, kLinkLocal, 1), entry(1, kLinkLocal, 2), entry(2, "192.0.2.12", 1),
                    entry(3, "192.0.2.12", 2)});
}

// The shapes of GID tables that users reported.

TEST(GidSelection, FindsTheRoutableV2EntryOfAUsualTable) {
  EXPECT_EQ(chosen_index(usual_port()), 3);
}

TEST(GidSelection, FindsItInAMacvlanPodWhoseTableStartsAtFour) {
  EXPECT_EQ(chosen_index(
                port_with({entry(4, kLinkLocal, 1, "net1"), entry(5, kLinkLocal, 2, "net1"),
                           entry(6, "192.0.2.12", 1, "net1"), entry(7, "192.0.2.12", 2, "net1")})),
            7);
}

TEST(GidSelection, FindsItInASparseTableWithIpv4First) {
  EXPECT_EQ(
      chosen_index(port_with({entry(6, "192.0.2.33", 1, "net1"), entry(7, "192.0.2.33", 2, "net1"),
                              entry(8, kLinkLocal, 1, "net1"), entry(9, kLinkLocal, 2, "net1")})),
      7);
}

TEST(GidSelection, FindsUnlikeIndexesInTwoPodsOnOneNic) {
  EXPECT_EQ(chosen_index(port_with({entry(4, "192.0.2.1", 1), entry(5, "192.0.2.1", 2)})), 5);
  EXPECT_EQ(chosen_index(port_with({entry(6, "192.0.2.2", 1), entry(7, "192.0.2.2", 2)})), 7);
}

TEST(GidSelection, SkipsAnIndexThatAQueuePairCannotName) {
  EXPECT_EQ(chosen_index(port_with({entry(256, "10.0.0.1", 2), entry(7, "10.0.0.2", 2)})), 7);
}

TEST(GidSelection, TakesAPrivateAddressBeforeALinkLocalOne) {
  EXPECT_EQ(chosen_index(port_with({entry(0, kLinkLocal, 2), entry(1, "10.20.9.101", 2)})), 1);
}

TEST(GidSelection, FollowsTheAddressWhenAFlapMovesItsIndex) {
  PortFacts port = usual_port();
  EXPECT_EQ(chosen_index(port), 3);
  port.gids.resize(2);
  EXPECT_EQ(chosen_index(port), 1);  // all there is for now
  port.gids.push_back(entry(4, "192.0.2.12", 1));
  port.gids.push_back(entry(5, "192.0.2.12", 2));
  EXPECT_EQ(chosen_index(port), 5);
}

TEST(GidSelection, TakesIpv6WhereThereIsNothingElse) {
  EXPECT_EQ(chosen_index(port_with({entry(0, kLinkLocal, 1), entry(1, kLinkLocal, 2),
                                    entry(2, "2001:db8::5", 1), entry(3, "2001:db8::5", 2)})),
            3);
}

// The order.

TEST(GidSelection, RanksByVersionThenReachThenFamilyThenIndex) {
  const PortFacts port =
      port_with({entry(0, kLinkLocal, 1), entry(1, kLinkLocal, 2), entry(2, "fd00::1", 1),
                 entry(3, "fd00::1", 2), entry(4, "10.0.0.1", 1), entry(5, "10.0.0.1", 2),
                 entry(6, "10.0.1.1", 2), entry(7, "127.0.0.1", 2), entry(8, "169.254.0.1", 2)});
  EXPECT_THAT(ranked_indexes(port), ElementsAre(5, 6, 3, 8, 1, 7, 4, 2, 0));
}

TEST(GidSelection, DoesNotDependOnTheOrderOfTheTable) {
  PortFacts port = usual_port();
  std::mt19937 chance(1);
  for (int i = 0; i < 24; ++i) {
    std::shuffle(port.gids.begin(), port.gids.end(), chance);
    EXPECT_THAT(ranked_indexes(port), ElementsAre(3, 1, 2, 0));
  }
}

TEST(GidSelection, SkipsEntriesOfForeignNamespaces) {
  EXPECT_EQ(chosen_index(port_with({entry(3, "192.0.2.12", 2, ""), entry(5, kLinkLocal, 2)})), 5);
}

TEST(GidSelection, UsesForeignEntriesWhenThereIsNothingElse) {
  EXPECT_EQ(chosen_index(port_with({entry(1, kLinkLocal, 2, ""), entry(3, "192.0.2.12", 2, "")})),
            3);
}

TEST(GidSelection, NeverTakesAnEntryWithoutAnAddressOrOfInfiniBand) {
  GidEntry infiniband = entry(2, "10.0.0.1", 2);
  infiniband.type = GidType::kInfiniBand;
  EXPECT_THAT(refusal(port_with({entry(0, "::", 2), entry(1, "fe80::", 2), infiniband})),
              AllOf(HasSubstr("mlx5_0:1: none of its GIDs holds an address"),
                    HasSubstr("give its network interface")));
}

TEST(GidSelection, ExplainsAnEmptyTable) {
  EXPECT_THAT(refusal(port_with({})), HasSubstr("mlx5_0:1: its GID table is empty"));
}

// What users wish for.

TEST(GidSelection, KeepsToAWishedVersionFamilyAndRange) {
  const PortFacts port =
      port_with({entry(1, kLinkLocal, 2), entry(2, "10.1.0.1", 1), entry(3, "10.1.0.1", 2),
                 entry(4, "10.2.0.1", 2), entry(5, "fd00::1", 2)});
  EXPECT_EQ(chosen_index(port, {{"NCCL_IB_ROCE_VERSION_NUM", "1"}}), 2);
  EXPECT_EQ(chosen_index(port, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}), 5);
  EXPECT_EQ(chosen_index(port, {{"NCCL_IB_ADDR_RANGE", "10.2.0.0/16"}}), 4);
  EXPECT_EQ(chosen_index(port, {{"ROCELANE_ADDRESS_RANGE", "fe80::/10"}}), 1);
}

TEST(GidSelection, NamesTheWishThatExcludesEverything) {
  EXPECT_THAT(refusal(usual_port(),
                      {{"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"}, {"NCCL_IB_ROCE_VERSION_NUM", "2"}}),
              AllOf(HasSubstr("mlx5_0:1: NCCL_IB_ROCE_VERSION_NUM=2 with "
                              "NCCL_IB_ADDR_RANGE=10.0.0.0/8 leaves no GID"),
                    HasSubstr("RoCE v2 192.0.2.12 (index 3, eth1)")));
}

TEST(GidSelection, ObeysAPinnedIndexThatIsUsable) {
  EXPECT_EQ(chosen_index(usual_port(), {{"NCCL_IB_GID_INDEX", "1"}}), 1);
  EXPECT_THAT(ranked_indexes(usual_port(), {{"NCCL_IB_GID_INDEX", "1"}}), ElementsAre(1));
}

TEST(GidSelection, SaysThatAPinnedIndexIsEmptyAndWhichAreGood) {
  EXPECT_EQ(refusal(port_with({entry(4, kLinkLocal, 2), entry(5, "192.0.2.1", 2)}),
                    {{"NCCL_IB_GID_INDEX", "3"}}),
            "mlx5_0:1: NCCL_IB_GID_INDEX=3 does not fit: that place in the port's GID table is "
            "empty; unset it, or use one of: RoCE v2 192.0.2.1 (index 5, eth1), RoCE v2 "
            "fe80::200:5eff:fe00:a01 (index 4, eth1)");
}

TEST(GidSelection, SaysThatAPinnedIndexBelongsToAForeignNamespace) {
  EXPECT_THAT(
      refusal(port_with({entry(3, "192.0.2.1", 2, ""), entry(5, "192.0.2.2", 2)}),
              {{"ROCELANE_GID_INDEX", "3"}}),
      AllOf(HasSubstr("mlx5_0:1: ROCELANE_GID_INDEX=3 does not fit"),
            HasSubstr("no interface in this network namespace"), HasSubstr("(index 5, eth1)")));
}

TEST(GidSelection, SaysThatAPinnedIndexHasNoAddress) {
  EXPECT_THAT(refusal(port_with({entry(0, "::", 2), entry(1, "10.0.0.1", 2)}),
                      {{"ROCELANE_GID_INDEX", "0"}}),
              HasSubstr("which no RoCE packet can carry"));
}

TEST(GidSelection, SaysThatOtherSettingsExcludeAPinnedIndex) {
  EXPECT_THAT(refusal(usual_port(), {{"ROCELANE_GID_INDEX", "3"}, {"ROCELANE_ROCE_VERSION", "1"}}),
              HasSubstr("which other settings exclude"));
}

TEST(GidSelection, KeepsItsSentenceShortForAHugeTable) {
  PortFacts port = port_with({});
  for (int i = 0; i < 255; ++i) {
    port.gids.push_back(entry(i, "10.0.0.1", 2));
  }
  const std::string sentence = refusal(port, {{"ROCELANE_GID_INDEX", "255"}});
  EXPECT_THAT(sentence, HasSubstr("and 247 more"));
  EXPECT_LT(sentence.size(), 700u);
}

// The peer's GID.

int matched_index(const std::vector<GidEntry>& candidates, std::string_view peer,
                  GidType type = GidType::kRoceV2) {
  const Result<GidEntry> gid = choose_gid_for_peer(candidates, gid_of(peer), type);
  return gid.ok() ? gid->index : -1;
}

TEST(GidForPeer, IsOfThePeersKind) {
  const std::vector<GidEntry> candidates{entry(3, "10.0.0.1", 2), entry(5, "fd00::1", 2),
                                         entry(1, kLinkLocal, 2), entry(2, "10.0.0.1", 1)};
  EXPECT_EQ(matched_index(candidates, "10.9.9.9"), 3);
  EXPECT_EQ(matched_index(candidates, "fd00::9"), 5);
  EXPECT_EQ(matched_index(candidates, "fe80::9"), 1);
  EXPECT_EQ(matched_index(candidates, "10.9.9.9", GidType::kRoceV1), 2);
}

TEST(GidForPeer, SharesTheLongestPrefix) {
  const std::vector<GidEntry> candidates{entry(3, "10.0.0.1", 2), entry(5, "10.1.0.1", 2),
                                         entry(7, "192.0.2.1", 2)};
  EXPECT_EQ(matched_index(candidates, "10.1.0.9"), 5);
  EXPECT_EQ(matched_index(candidates, "192.0.2.9"), 7);
  EXPECT_EQ(matched_index(candidates, "10.0.0.9"), 3);
}

TEST(GidForPeer, IsTheFirstCandidateWhenAllAreEquallyNear) {
  EXPECT_EQ(matched_index({entry(9, "10.0.0.1", 2), entry(2, "10.0.0.1", 2)}, "10.0.0.5"), 9);
}

TEST(GidForPeer, IsNoneForAPeerOfAnotherKindAndSaysSo) {
  const std::vector<GidEntry> candidates{entry(3, "10.0.0.1", 2)};
  const Result<GidEntry> gid = choose_gid_for_peer(candidates, gid_of("fd00::9"), GidType::kRoceV2);
  ASSERT_FALSE(gid.ok());
  EXPECT_EQ(gid.error().code, ErrorCode::kRemote);
  EXPECT_THAT(gid.error().what, AllOf(HasSubstr("the peer offers RoCE v2 fd00::9"),
                                      HasSubstr("RoCE v2 10.0.0.1 (index 3, eth1)")));
}

TEST(GidForPeer, IsNoneForGarbageFromThePeer) {
  EXPECT_EQ(matched_index({entry(3, "10.0.0.1", 2)}, "::"), -1);
  EXPECT_EQ(matched_index({entry(3, "10.0.0.1", 2)}, "10.0.0.2", static_cast<GidType>(200)), -1);
  EXPECT_EQ(matched_index({}, "10.0.0.2"), -1);
}

}  // namespace
}  // namespace rocelane::net
