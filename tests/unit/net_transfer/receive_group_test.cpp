#include "net/transfer/receive_group.h"

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

constexpr std::array<uint32_t, kGroupedReceives> kRoom{100, 100, 100, 100, 100, 100, 100, 100};

StripeImmediate stripe(uint32_t buffer, uint32_t index, uint32_t of) {
  return {0, buffer, index, of, 0};
}

ReceiveGroup group_of(uint32_t buffers) {
  ReceiveGroup group;
  group.start(buffers, kRoom, 0);
  return group;
}

TEST(ReceiveGroup, IsFinishedOnlyWhenEveryStripeOfEveryBufferArrived) {
  ReceiveGroup group = group_of(2);
  EXPECT_EQ(group.add(stripe(1, 1, 2), 10), "");
  EXPECT_EQ(group.add(stripe(0, 0, 1), 100), "");
  EXPECT_FALSE(group.is_finished());
  EXPECT_EQ(group.add(stripe(1, 0, 2), 20), "");
  EXPECT_TRUE(group.is_finished());
  EXPECT_EQ(group.bytes(0), 100U);
  EXPECT_EQ(group.bytes(1), 30U);
}

TEST(ReceiveGroup, AnEmptyMessageIsAMessage) {
  ReceiveGroup group = group_of(1);
  EXPECT_FALSE(group.is_finished());
  EXPECT_EQ(group.add(stripe(0, 0, 1), 0), "");
  EXPECT_TRUE(group.is_finished());
  EXPECT_EQ(group.bytes(0), 0U);
}

TEST(ReceiveGroup, RefusesAStripeThatArrivesTwice) {
  ReceiveGroup group = group_of(1);
  EXPECT_EQ(group.add(stripe(0, 0, 2), 1), "");
  EXPECT_NE(group.add(stripe(0, 0, 2), 1), "");
  EXPECT_FALSE(group.is_finished());
}

TEST(ReceiveGroup, RefusesMoreBytesThanWereAnnounced) {
  ReceiveGroup group = group_of(1);
  EXPECT_EQ(group.add(stripe(0, 0, 2), 60), "");
  EXPECT_NE(group.add(stripe(0, 1, 2), 41), "");
}

TEST(ReceiveGroup, ARefusedStripeCountsForNothing) {
  ReceiveGroup group = group_of(1);
  EXPECT_NE(group.add(stripe(0, 0, 3), 101), "");
  EXPECT_EQ(group.add(stripe(0, 0, 1), 100), "");
  EXPECT_TRUE(group.is_finished());
}

TEST(ReceiveGroup, RefusesABufferThatWasNotAnnounced) {
  ReceiveGroup group = group_of(2);
  EXPECT_NE(group.add(stripe(2, 0, 1), 1), "");
}

TEST(ReceiveGroup, RefusesStripesThatContradictEachOther) {
  ReceiveGroup group = group_of(1);
  EXPECT_NE(group.add(stripe(0, 2, 2), 1), "");
  EXPECT_EQ(group.add(stripe(0, 0, 2), 1), "");
  EXPECT_NE(group.add(stripe(0, 1, 3), 1), "");
}

TEST(ReceiveGroup, RefusesAStripeOfAnotherEpoch) {
  ReceiveGroup group = group_of(1);
  StripeImmediate late = stripe(0, 0, 1);
  late.epoch = 1;
  EXPECT_NE(group.add(late, 1), "");
  EXPECT_FALSE(group.is_finished());
}

TEST(ReceiveGroup, StartsCleanWhenItsSlotIsUsedAgain) {
  ReceiveGroup group = group_of(1);
  EXPECT_EQ(group.add(stripe(0, 0, 1), 7), "");
  group.start(1, kRoom, 0);
  EXPECT_FALSE(group.is_finished());
  EXPECT_EQ(group.add(stripe(0, 0, 1), 9), "");
  EXPECT_EQ(group.bytes(0), 9U);
}

}  // namespace
}  // namespace rocelane::net
