#include "net/memory/containment_index.h"

#include <string>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

class Index : public testing::Test {
 protected:
  // The name of the range found, "" for none.
  std::string found(uint64_t begin, uint64_t end) const {
    const std::string* name = index_.find({begin, end});
    return name == nullptr ? "" : *name;
  }

  ContainmentIndex<std::string> index_;
};

TEST_F(Index, FindsNothingWhenEmpty) {
  EXPECT_TRUE(index_.is_empty());
  EXPECT_EQ(found(0, 10), "");
}

TEST_F(Index, FindsARangeByItselfAndByEveryPartOfIt) {
  index_.add({100, 200}, "a");
  EXPECT_EQ(found(100, 200), "a");
  EXPECT_EQ(found(100, 101), "a");
  EXPECT_EQ(found(150, 160), "a");
  EXPECT_EQ(found(199, 200), "a");
}

TEST_F(Index, FindsNothingForWhatSticksOut) {
  index_.add({100, 200}, "a");
  EXPECT_EQ(found(99, 200), "");
  EXPECT_EQ(found(100, 201), "");
  EXPECT_EQ(found(0, 50), "");
  EXPECT_EQ(found(200, 300), "");
}

TEST_F(Index, DoesNotJoinNeighbours) {
  index_.add({100, 200}, "a");
  index_.add({200, 300}, "b");
  EXPECT_EQ(found(150, 250), "");
  EXPECT_EQ(found(150, 200), "a");
  EXPECT_EQ(found(200, 250), "b");
}

TEST_F(Index, LooksPastALaterBeginThatEndsTooSoon) {
  index_.add({120, 130}, "small");
  index_.add({100, 200}, "large");
  index_.add({150, 300}, "overlapping");
  EXPECT_EQ(found(125, 140), "large");
  EXPECT_EQ(found(160, 250), "overlapping");
  EXPECT_EQ(found(110, 250), "");
}

TEST_F(Index, FindsACoveredRangeAgainWhenItsCoverIsTaken) {
  index_.add({120, 130}, "small");
  index_.add({100, 200}, "large");
  EXPECT_EQ(index_.take({100, 200}), "large");
  EXPECT_EQ(found(100, 200), "");
  EXPECT_EQ(found(121, 129), "small");
}

TEST_F(Index, TakesACoveredRangeFromUnderItsCover) {
  index_.add({120, 130}, "small");
  index_.add({100, 200}, "large");
  EXPECT_EQ(index_.take({120, 130}), "small");
  EXPECT_EQ(found(120, 130), "large");
  EXPECT_EQ(index_.take({100, 200}), "large");
  EXPECT_TRUE(index_.is_empty());
}

TEST_F(Index, KeepsNestedRangesInOrderWhateverIsTakenFirst) {
  index_.add({140, 150}, "inner");
  index_.add({130, 160}, "middle");
  index_.add({100, 200}, "outer");
  index_.take({100, 200});
  EXPECT_EQ(found(145, 146), "middle");
  EXPECT_EQ(found(100, 110), "");
  index_.take({130, 160});
  EXPECT_EQ(found(145, 146), "inner");
  EXPECT_EQ(found(135, 136), "");
}

TEST_F(Index, LeavesARangeCoveredThatAnotherOneStillCovers) {
  index_.add({140, 150}, "inner");
  index_.add({100, 160}, "left");
  index_.add({130, 200}, "right");
  index_.take({100, 160});
  EXPECT_EQ(found(140, 150), "right");
  index_.take({130, 200});
  EXPECT_EQ(found(140, 150), "inner");
}

TEST_F(Index, KnowsRangesWithTheSameBeginOrEnd) {
  index_.add({100, 110}, "short");
  index_.add({100, 200}, "long");
  index_.add({90, 200}, "longest");
  EXPECT_EQ(found(100, 200), "longest");
  index_.take({90, 200});
  EXPECT_EQ(found(100, 105), "long");
  index_.take({100, 200});
  EXPECT_EQ(found(100, 105), "short");
}

TEST_F(Index, ReachesToBothEndsOfTheAddressSpace) {
  index_.add({0, UINT64_MAX}, "all");
  EXPECT_EQ(found(0, 1), "all");
  EXPECT_EQ(found(UINT64_MAX - 1, UINT64_MAX), "all");
  EXPECT_EQ(found(UINT64_MAX, UINT64_MAX), "all");
}

TEST_F(Index, StaysInOrderAfterManyRemovals) {
  for (uint64_t i = 0; i < 100; ++i) {
    index_.add({i * 10, i * 10 + 10}, std::to_string(i));
  }
  for (uint64_t i = 0; i < 100; i += 2) {
    EXPECT_EQ(index_.take({i * 10, i * 10 + 10}), std::to_string(i));
  }
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(found(i * 10 + 1, i * 10 + 9), i % 2 == 0 ? "" : std::to_string(i));
  }
}

}  // namespace
}  // namespace rocelane::net
