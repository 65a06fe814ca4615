#include <array>
#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/chunk_plan.h"
#include "device/function.h"
#include "device/ring.h"
#include "device/send_receive.h"
#include "device/tree.h"

namespace rocelane::lab {
namespace {

using ::testing::ElementsAre;

TEST(DeviceChunkPlan, OneChannelGetsEverything) {
  const ChannelShares shares{.low = 2, .high = 2, .count_low = 1000, .grains_low = 4};
  EXPECT_EQ(part_of_channel(shares, 2, Protocol::kSimple, 4),
            (Part{.total = 1000, .offset = 0, .count = 1000, .chunk = 512}));
  EXPECT_EQ(part_of_channel(shares, 2, Protocol::kLl, 8).chunk, 8U);
  EXPECT_EQ(part_of_channel(shares, 2, Protocol::kLl128, 2).chunk, 3840U);
}

TEST(DeviceChunkPlan, FirstMiddleAndLastChannelsFollowOneAnother) {
  const ChannelShares shares{.low = 1,
                             .high = 4,
                             .count_low = 10,
                             .count_middle = 100,
                             .count_high = 7,
                             .grains_low = 1,
                             .grains_middle = 2,
                             .grains_high = 3};
  const auto part = [&](int channel) {
    return part_of_channel(shares, channel, Protocol::kSimple, 1);
  };
  EXPECT_EQ(part(1), (Part{.total = 217, .offset = 0, .count = 10, .chunk = 512}));
  EXPECT_EQ(part(2), (Part{.total = 217, .offset = 10, .count = 100, .chunk = 1024}));
  EXPECT_EQ(part(3), (Part{.total = 217, .offset = 110, .count = 100, .chunk = 1024}));
  EXPECT_EQ(part(4), (Part{.total = 217, .offset = 210, .count = 7, .chunk = 1536}));
}

TEST(DeviceChunkPlan, TwoChannelsHaveNoMiddle) {
  const ChannelShares shares{.low = 0, .high = 1, .count_low = 10, .count_high = 20};
  EXPECT_EQ(part_of_channel(shares, 1, Protocol::kSimple, 1).offset, 10U);
  EXPECT_EQ(part_of_channel(shares, 1, Protocol::kSimple, 1).total, 30U);
}

TEST(DeviceChunkPlan, SendsAreSplitAtPages) {
  EXPECT_EQ(bytes_of_part(2, 0, 10'000), (ByteRange{.begin = 0, .end = 8192}));
  EXPECT_EQ(bytes_of_part(2, 1, 10'000), (ByteRange{.begin = 8192, .end = 10'000}));
  EXPECT_EQ(bytes_of_part(4, 3, 100), (ByteRange{.begin = 100, .end = 100}));
  EXPECT_EQ(bytes_of_part(1, 0, 0), ByteRange{});
}

TEST(DeviceChunkPlan, AChannelOwnsThePartAtItsDistanceFromTheBase) {
  EXPECT_EQ(part_of_send_receive(8, 3, 3), 0);
  EXPECT_EQ(part_of_send_receive(8, 3, 2), 7);
  EXPECT_EQ(part_of_send_receive(1, 0, 0), 0);
}

TEST(DeviceChunkPlan, SizesDecodeFromEightBits) {
  EXPECT_EQ(decode_size(0), 0U);
  EXPECT_EQ(decode_size(7), 7U);
  EXPECT_EQ(decode_size(8), 8U);
  EXPECT_EQ(decode_size(15 << 3), 1U << 17);
  EXPECT_EQ(decode_size((15 << 3) | 4), 3U << 16);
  EXPECT_EQ(decode_size(0xef), 0xf0000000U);
}

TEST(DeviceChunkPlan, SlicesAreMultiplesOfSixteenAndNotTiny) {
  EXPECT_EQ(slice_elements(1000, 2, 0), 512U);
  EXPECT_EQ(slice_elements(17, 1, 0), 32U);
  EXPECT_EQ(slice_elements(17, 2, 4096), 4096U);
  EXPECT_EQ(slice_elements(0, 2, 0), 0U);
}

// Runs the legs of all ranks on numbers instead of memory: a value is the set of ranks that
// contributed to an element, and a connection is a queue.
class Simulation {
 public:
  Simulation(size_t input_elements, size_t output_elements, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      inputs.emplace_back(input_elements);
      outputs.emplace_back(output_elements, 0U);
      for (size_t i = 0; i < input_elements; ++i) {
        inputs.back()[i] = {i, 1U << rank};
      }
    }
  }

  struct Value {
    size_t origin = 0;  // index in the contributors' inputs
    unsigned contributors = 0;
    bool operator==(const Value&) const = default;
  };

  void add(int rank, const Leg& leg) { legs_.push_back({rank, leg}); }

  // False: nothing can move any more although moves are left.
  bool run() {
    while (true) {
      bool moved = false;
      bool open = false;
      for (State& state : legs_) {
        open = open || state.at < state.leg.moves.size();
        moved = step(state) || moved;
      }
      if (!moved) {
        return !open;
      }
    }
  }

  std::vector<std::vector<Value>> inputs;
  std::vector<std::vector<unsigned>> outputs;

 private:
  struct State {
    int rank;
    Leg leg;
    size_t at = 0;
  };
  using Chunk = std::vector<Value>;

  bool step(State& state) {
    if (state.at == state.leg.moves.size()) {
      return false;
    }
    const Move& move = state.leg.moves[state.at];
    if (move.receive) {
      for (const int peer : state.leg.from) {
        if (queues_[{peer, state.rank}].empty()) {
          return false;
        }
      }
    }
    if (move.send) {
      for (const int peer : state.leg.to) {
        if (queues_[{state.rank, peer}].size() == 8) {
          return false;
        }
      }
    }
    Chunk chunk;
    if (move.own == Memory::kInput) {
      const auto& input = inputs[static_cast<size_t>(state.rank)];
      for (size_t i = 0; i < move.count; ++i) {
        chunk.push_back(input.at(move.own_offset + i));
      }
    }
    if (move.receive) {
      for (const int peer : state.leg.from) {
        auto& queue = queues_[{peer, state.rank}];
        merge(chunk, queue.front(), move.count);
        queue.erase(queue.begin());
      }
    }
    if (move.kept == Memory::kOutput) {
      for (size_t i = 0; i < move.count; ++i) {
        outputs[static_cast<size_t>(state.rank)].at(move.kept_offset + i) =
            chunk[i].contributors | static_cast<unsigned>(chunk[i].origin << 8);
      }
    }
    if (move.send) {
      for (const int peer : state.leg.to) {
        queues_[{state.rank, peer}].push_back(chunk);
      }
    }
    ++state.at;
    return true;
  }

  static void merge(Chunk& into, const Chunk& from, size_t count) {
    EXPECT_EQ(from.size(), count);
    if (into.empty()) {
      into = from;
      return;
    }
    for (size_t i = 0; i < into.size(); ++i) {
      EXPECT_EQ(into[i].origin, from[i].origin);
      EXPECT_EQ(into[i].contributors & from[i].contributors, 0U);
      into[i].contributors |= from[i].contributors;
    }
  }

  std::vector<State> legs_;
  std::map<std::pair<int, int>, std::vector<Chunk>> queues_;
};

unsigned element(size_t origin, unsigned contributors) {
  return contributors | static_cast<unsigned>(origin << 8);
}

constexpr int kRanks = 4;
constexpr unsigned kEverybody = (1U << kRanks) - 1;
// The ring visits the ranks in an order of its own.
constexpr std::array kRingOrder = {0, 2, 3, 1};

struct RingOfRank {
  explicit RingOfRank(int index) {
    for (int hop = 0; hop < kRanks; ++hop) {
      ranks.push_back(kRingOrder[static_cast<size_t>((index + hop) % kRanks)]);
    }
    place = {.previous = ranks.back(), .next = ranks[1], .index = index, .ranks = ranks};
  }
  RingOfRank(const RingOfRank&) = delete;
  RingOfRank& operator=(const RingOfRank&) = delete;
  int rank() const { return ranks[0]; }
  std::vector<int> ranks;
  RingPlace place;
};

class DeviceRing : public ::testing::TestWithParam<size_t> {
 protected:
  size_t count() const { return GetParam(); }
  Part part() const { return {.total = count(), .offset = 0, .count = count(), .chunk = 16}; }
};

TEST_P(DeviceRing, AllReduceBringsEveryContributionToEveryRank) {
  Simulation simulation(count(), count(), kRanks);
  for (int index = 0; index < kRanks; ++index) {
    const RingOfRank ring(index);
    simulation.add(ring.rank(), ring_all_reduce(ring.place, part(), 4));
  }
  ASSERT_TRUE(simulation.run());
  for (const auto& output : simulation.outputs) {
    for (size_t i = 0; i < count(); ++i) {
      ASSERT_EQ(output[i], element(i, kEverybody));
    }
  }
}

TEST_P(DeviceRing, AllGatherOrdersTheSharesByRank) {
  for (const bool in_place : {false, true}) {
    Simulation simulation(count(), count() * kRanks, kRanks);
    for (int index = 0; index < kRanks; ++index) {
      const RingOfRank ring(index);
      simulation.add(ring.rank(), ring_all_gather(ring.place, part(), in_place));
    }
    ASSERT_TRUE(simulation.run());
    for (size_t rank = 0; rank < kRanks; ++rank) {
      for (size_t share = 0; share < kRanks; ++share) {
        for (size_t i = 0; i < count(); ++i) {
          const bool is_own = share == rank;
          ASSERT_EQ(simulation.outputs[rank][share * count() + i],
                    is_own && in_place ? 0 : element(i, 1U << share));
        }
      }
    }
  }
}

TEST_P(DeviceRing, ReduceScatterLeavesEveryRankItsShare) {
  Simulation simulation(count() * kRanks, count(), kRanks);
  for (int index = 0; index < kRanks; ++index) {
    const RingOfRank ring(index);
    simulation.add(ring.rank(), ring_reduce_scatter(ring.place, part()));
  }
  ASSERT_TRUE(simulation.run());
  for (size_t rank = 0; rank < kRanks; ++rank) {
    for (size_t i = 0; i < count(); ++i) {
      ASSERT_EQ(simulation.outputs[rank][i], element(rank * count() + i, kEverybody));
    }
  }
}

TEST_P(DeviceRing, BroadcastReachesEveryRankFromEveryRoot) {
  for (int root = 0; root < kRanks; ++root) {
    Simulation simulation(count(), count(), kRanks);
    for (int index = 0; index < kRanks; ++index) {
      const RingOfRank ring(index);
      simulation.add(ring.rank(), ring_broadcast(ring.place, part(), root, false));
    }
    ASSERT_TRUE(simulation.run());
    for (const auto& output : simulation.outputs) {
      for (size_t i = 0; i < count(); ++i) {
        ASSERT_EQ(output[i], element(i, 1U << root));
      }
    }
  }
}

TEST_P(DeviceRing, ReduceWritesOnlyAtTheRoot) {
  for (int root = 0; root < kRanks; ++root) {
    Simulation simulation(count(), count(), kRanks);
    for (int index = 0; index < kRanks; ++index) {
      const RingOfRank ring(index);
      simulation.add(ring.rank(), ring_reduce(ring.place, part(), root));
    }
    ASSERT_TRUE(simulation.run());
    for (int rank = 0; rank < kRanks; ++rank) {
      for (size_t i = 0; i < count(); ++i) {
        ASSERT_EQ(simulation.outputs[static_cast<size_t>(rank)][i],
                  rank == root ? element(i, kEverybody) : 0);
      }
    }
  }
}

TEST_P(DeviceRing, TreeAllReduceBringsEveryContributionToEveryRank) {
  const std::array<TreePlace, kRanks> places = {
      TreePlace{.up = -1, .down = {2}}, TreePlace{.up = 2, .down = {}},
      TreePlace{.up = 0, .down = {1, 3}}, TreePlace{.up = 2, .down = {}}};
  Simulation simulation(count(), count(), kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const Leg& leg : tree_all_reduce(places[static_cast<size_t>(rank)], part())) {
      simulation.add(rank, leg);
    }
  }
  ASSERT_TRUE(simulation.run());
  for (const auto& output : simulation.outputs) {
    for (size_t i = 0; i < count(); ++i) {
      ASSERT_EQ(output[i], element(i, kEverybody));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, DeviceRing, ::testing::Values(0, 1, 3, 17, 64, 65, 1000));

TEST(DeviceSendReceive, NothingToSendIsStillOneChunk) {
  EXPECT_THAT(send_leg(3, 0, 100).moves, ElementsAre(Move{.send = true, .own = Memory::kInput}));
  EXPECT_THAT(receive_leg(3, 0, 100).moves,
              ElementsAre(Move{.receive = true, .kept = Memory::kOutput}));
}

TEST(DeviceSendReceive, ChunksCoverTheMessage) {
  EXPECT_THAT(
      send_leg(3, 250, 100).moves,
      ElementsAre(Move{.send = true, .own = Memory::kInput, .count = 100},
                  Move{.send = true, .own = Memory::kInput, .own_offset = 100, .count = 100},
                  Move{.send = true, .own = Memory::kInput, .own_offset = 200, .count = 50}));
}

TEST(DeviceFunctionTable, RowsFollowNcclsNumbering) {
  std::vector<int> ids(static_cast<size_t>(function_row_count()));
  for (size_t row = 0; row < ids.size(); ++row) {
    ids[row] = static_cast<int>(row);
  }
  const FunctionTable table(ids.data());
  EXPECT_EQ(function_row_count(), 1996);
  EXPECT_EQ(table.find(0)->collective, Collective::kSendReceive);
  const Function ring_simple_sum_float = *table.find(16 + (7 * 6 + 1) * 3 + 2);
  EXPECT_EQ(ring_simple_sum_float.collective, Collective::kAllReduce);
  EXPECT_EQ(ring_simple_sum_float.algorithm, Algorithm::kRing);
  EXPECT_EQ(ring_simple_sum_float.protocol, Protocol::kSimple);
  EXPECT_EQ(ring_simple_sum_float.operation, Operation::kSum);
  EXPECT_EQ(ring_simple_sum_float.element, ElementType::kFloat32);
  EXPECT_EQ(table.find(1995)->algorithm, Algorithm::kPat);
  EXPECT_FALSE(table.find(1996));
  EXPECT_FALSE(table.find(-1));
}

TEST(DeviceFunctionTable, RowsWithoutAKernelAreUnknown) {
  std::vector<int> ids(static_cast<size_t>(function_row_count()), -1);
  ids[13] = 0;
  const FunctionTable table(ids.data());
  EXPECT_EQ(table.find(0)->collective, Collective::kBroadcast);
  EXPECT_FALSE(table.find(1));
}

}  // namespace
}  // namespace rocelane::lab
