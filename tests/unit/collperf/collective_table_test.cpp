#include "collperf/collective_table.h"

#include <gtest/gtest.h>

namespace rocelane::collperf {
namespace {

TEST(CollectiveTable, NamesEveryCollectiveOnce) {
  for (const Collective collective : kAllCollectives) {
    EXPECT_EQ(collective_named(name_of(collective)), collective);
  }
  EXPECT_EQ(collective_named("allreduce"), std::nullopt);
}

TEST(CallShape, GivesOneBlockToEachRankWhereTheBufferIsCut) {
  const CallShape gather = shape_for_size(Collective::kAllGather, 1024, 4, 4);
  EXPECT_EQ(gather.call_count, 64U);
  EXPECT_EQ(gather.send_count, 64U);
  EXPECT_EQ(gather.receive_count, 256U);
  EXPECT_EQ(gather.in_place_send_step, 64U);
  const CallShape scatter = shape_for_size(Collective::kReduceScatter, 1024, 4, 4);
  EXPECT_EQ(scatter.send_count, 256U);
  EXPECT_EQ(scatter.receive_count, 64U);
  EXPECT_EQ(scatter.in_place_receive_step, 64U);
}

TEST(CallShape, CutsBlocksAtMultiplesOf16Bytes) {
  EXPECT_EQ(shape_for_size(Collective::kAllGather, 100, 4, 3).call_count, 8U);
  EXPECT_EQ(shape_for_size(Collective::kAllToAll, 8, 4, 2).call_count, 0U);
  EXPECT_EQ(shape_for_size(Collective::kAllReduce, 10, 4, 3).call_count, 2U);
}

TEST(ExpectedPieces, PutEachSourceWhereNcclPutsIt) {
  const auto gathered = expected_pieces(Collective::kAllGather, 5, 3, 1, 0);
  ASSERT_EQ(gathered.size(), 3U);
  EXPECT_EQ(gathered[2].receive_offset, 10U);
  EXPECT_EQ(gathered[2].source_rank, 2);
  EXPECT_EQ(gathered[2].source_offset, 0U);

  const auto exchanged = expected_pieces(Collective::kAllToAll, 5, 3, 1, 0);
  EXPECT_EQ(exchanged[2].receive_offset, 10U);
  EXPECT_EQ(exchanged[2].source_offset, 5U);

  const auto scattered = expected_pieces(Collective::kReduceScatter, 5, 3, 2, 0);
  EXPECT_EQ(scattered[0].source_rank, std::nullopt);
  EXPECT_EQ(scattered[0].source_offset, 10U);

  EXPECT_EQ(expected_pieces(Collective::kSendRecv, 5, 3, 0, 0)[0].source_rank, 2);
  EXPECT_EQ(expected_pieces(Collective::kScatter, 5, 3, 2, 1)[0].source_rank, 1);
}

TEST(ExpectedPieces, AreNoneWhereOnlyTheRootReceives) {
  EXPECT_TRUE(expected_pieces(Collective::kReduce, 5, 3, 1, 0).empty());
  EXPECT_TRUE(expected_pieces(Collective::kGather, 5, 3, 1, 0).empty());
  EXPECT_EQ(expected_pieces(Collective::kReduce, 5, 3, 0, 0).size(), 1U);
  EXPECT_EQ(expected_pieces(Collective::kGather, 5, 3, 0, 0).size(), 3U);
}

TEST(ExpectedPieces, CoverTheWholeReceiveBufferOfAReceivingRank) {
  for (const Collective collective : kAllCollectives) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      size_t covered = 0;
      for (const Piece& piece : expected_pieces(collective, 7, ranks, 0, 0)) {
        EXPECT_EQ(piece.receive_offset, covered) << name_of(collective);
        covered += piece.count;
      }
      EXPECT_EQ(covered, shape_of_call(collective, 7, ranks).receive_count) << name_of(collective);
    }
  }
}

TEST(Bandwidth, UsesTheFactorsOfNcclTests) {
  // 1e9 bytes in the larger buffer, one second, four ranks.
  const auto bus = [](Collective collective) {
    const bool cut = shape_of_call(collective, 1, 4).larger_count() == 4;
    const size_t count = cut ? 250000000 : 1000000000;
    const Bandwidth bandwidth = bandwidth_of(collective, count, 1, 4, 1.0);
    EXPECT_DOUBLE_EQ(bandwidth.algorithm_gb_per_s, 1.0);
    return bandwidth.bus_gb_per_s;
  };
  EXPECT_DOUBLE_EQ(bus(Collective::kAllReduce), 1.5);
  EXPECT_DOUBLE_EQ(bus(Collective::kAllGather), 0.75);
  EXPECT_DOUBLE_EQ(bus(Collective::kReduceScatter), 0.75);
  EXPECT_DOUBLE_EQ(bus(Collective::kAllToAll), 0.75);
  EXPECT_DOUBLE_EQ(bus(Collective::kGather), 0.75);
  EXPECT_DOUBLE_EQ(bus(Collective::kScatter), 0.75);
  EXPECT_DOUBLE_EQ(bus(Collective::kBroadcast), 1.0);
  EXPECT_DOUBLE_EQ(bus(Collective::kReduce), 1.0);
  EXPECT_DOUBLE_EQ(bus(Collective::kSendRecv), 1.0);
}

}  // namespace
}  // namespace rocelane::collperf
