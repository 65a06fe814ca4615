#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/function.h"
#include "device/kernel.h"
#include "device/layout_2_28.h"
#include "device/one_rank.h"
#include "device_pipe.h"

namespace rocelane::lab {
namespace {

namespace layout = layout_2_28;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kVersion = 22809;

// Function ids equal to rows keep the tests readable.
const std::vector<int>& identity_rows() {
  static const std::vector<int> rows = [] {
    std::vector<int> ids(static_cast<size_t>(function_row_count()));
    for (size_t row = 0; row < ids.size(); ++row) {
      ids[row] = static_cast<int>(row);
    }
    return ids;
  }();
  return rows;
}

NcclImage image() { return {.version = kVersion, .dev_func_row_to_id = identity_rows().data()}; }

constexpr int kSendReceiveRow = 0;
constexpr int kAllGatherPatSimpleRow = 1 + 3 * 3 + 2;
int all_reduce_row(Operation operation, ElementType element, Algorithm algorithm,
                   Protocol protocol) {
  const int type = static_cast<int>(operation) * 12 + static_cast<int>(element);
  return 16 + (type * 6 + static_cast<int>(algorithm)) * 3 + static_cast<int>(protocol);
}

// What NCCL's host side sets up for the ranks of a communicator, with direct connections.
class FakeCommunicator {
 public:
  explicit FakeCommunicator(int ranks) : ranks_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      sides_.push_back(std::make_unique<Side>());
      set_up(*sides_.back(), rank);
    }
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        for (size_t index = 0; index < 2; ++index) {
          memories_.push_back(std::make_unique<ConnectionMemory>());
          attach(peer(from, to).send[index], *memories_.back());
          attach(peer(to, from).receive[index], *memories_.back());
        }
      }
    }
  }

  layout::KernelCommAndChannels& comm(int rank) { return side(rank).all; }
  void abort() {
    for (auto& side : sides_) {
      store_shared(side->abort_flag, 1U);
    }
  }

 private:
  struct Side {
    layout::KernelCommAndChannels all = {};
    std::vector<layout::ChannelPeer> peers;
    std::vector<layout::ChannelPeer*> peer_pointers;
    std::vector<int> ring;
    uint32_t abort_flag = 0;
  };

  Side& side(int rank) { return *sides_[static_cast<size_t>(rank)]; }
  layout::ChannelPeer& peer(int rank, int other) {
    return side(rank).peers[static_cast<size_t>(other)];
  }

  void set_up(Side& side, int rank) {
    side.peers.resize(static_cast<size_t>(ranks_));
    for (layout::ChannelPeer& peer : side.peers) {
      side.peer_pointers.push_back(&peer);
    }
    for (int hop = 0; hop < ranks_; ++hop) {
      side.ring.push_back((rank + hop) % ranks_);
    }
    layout::KernelComm& comm = side.all.comm;
    comm.rank = rank;
    comm.rank_count = ranks_;
    for (const Protocol protocol : kAllProtocols) {
      comm.buffer_bytes[static_cast<size_t>(protocol)] =
          static_cast<int>(ConnectionMemory::buffer_bytes(protocol));
    }
    comm.p2p_chunk_bytes = static_cast<int>(ConnectionMemory::step_bytes(Protocol::kSimple));
    comm.abort_flag = &side.abort_flag;
    comm.channels = side.all.channels;
    layout::Channel& channel = side.all.channels[0];
    channel.peers = side.peer_pointers.data();
    channel.ring = {.previous = side.ring.back(),
                    .next = side.ring[1 % side.ring.size()],
                    .user_ranks = side.ring.data(),
                    .index = rank};
    channel.tree = {
        .depth = 0, .up = rank - 1, .down = {rank + 1 < ranks_ ? rank + 1 : -1, -1, -1}};
  }

  static void attach(layout::Connection& connection, ConnectionMemory& memory) {
    for (const Protocol protocol : kAllProtocols) {
      connection.buffers[static_cast<size_t>(protocol)] =
          reinterpret_cast<char*>(memory.buffer(protocol));
    }
    connection.head = &memory.head;
    connection.tail = &memory.tail;
    connection.step_bytes = static_cast<int>(ConnectionMemory::step_bytes(Protocol::kSimple));
  }

  int ranks_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<std::unique_ptr<ConnectionMemory>> memories_;
};

// An argument block as NCCL writes it: head, batches, works.
class ArgumentBlock {
 public:
  ArgumentBlock(layout::KernelCommAndChannels& comm, std::vector<layout::WorkBatch> batches) {
    bytes_ = sizeof(layout::KernelArguments) + batches.size() * sizeof(layout::WorkBatch);
    head() = {.comm = &comm,
              .channel_mask = 1,
              .storage = layout::WorkStorage::kArguments,
              .work_mask = ~0U,
              .work_buffer = nullptr};
    std::memcpy(block_ + sizeof(layout::KernelArguments), batches.data(),
                batches.size() * sizeof(layout::WorkBatch));
  }

  layout::KernelArguments& head() { return *reinterpret_cast<layout::KernelArguments*>(block_); }

  template <class Work>
  void add(const Work& work) {
    std::memcpy(block_ + bytes_, &work, sizeof work);
    bytes_ += sizeof work;
  }

  std::string run() { return run_kernel(image(), block_, bytes_); }

 private:
  alignas(64) std::byte block_[4096] = {};
  size_t bytes_ = 0;
};

layout::WorkBatch batch(layout::WorkType type, int function, uint32_t offset, uint64_t bits) {
  layout::WorkBatch batch = {};
  batch.work_type = static_cast<uint8_t>(type) & 3;
  batch.function = static_cast<uint32_t>(function) & 0x7fff;
  batch.offset_base = offset;
  batch.offset_bits = bits;
  return batch;
}

uint32_t first_work_offset(size_t batches) {
  return static_cast<uint32_t>(sizeof(layout::KernelArguments) +
                               batches * sizeof(layout::WorkBatch));
}

layout::CollectiveWork collective(const void* input, void* output, size_t count,
                                  uint32_t grains = 1) {
  layout::CollectiveWork work = {};
  work.input = const_cast<void*>(input);
  work.output = output;
  work.count_low = count;
  work.grains_low = grains & 0x1fffff;
  return work;
}

template <class RunRank>
void in_threads(int ranks, RunRank run_rank) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([=] { run_rank(rank); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

struct AllReduceCase {
  Algorithm algorithm;
  Protocol protocol;
};

class DeviceKernel : public ::testing::TestWithParam<AllReduceCase> {};

TEST_P(DeviceKernel, AllReducesSeveralWorksOfABatch) {
  constexpr int kRanks = 3;
  FakeCommunicator comm(kRanks);
  const int row = all_reduce_row(Operation::kSum, ElementType::kFloat32, GetParam().algorithm,
                                 GetParam().protocol);
  in_threads(kRanks, [&](int rank) {
    const std::vector<float> input(5003, static_cast<float>(rank + 1));
    std::vector<float> first(1, -1);
    std::vector<float> second(input.size(), -1);
    // Work 0 and work 2 are this channel's; work 1 belongs to another one.
    ArgumentBlock arguments(
        comm.comm(rank), {batch(layout::WorkType::kCollective, row, first_work_offset(1), 0b101)});
    arguments.add(collective(input.data(), first.data(), first.size()));
    arguments.add(layout::CollectiveWork{});
    arguments.add(collective(input.data(), second.data(), second.size()));
    EXPECT_THAT(arguments.run(), IsEmpty());
    EXPECT_EQ(first, std::vector<float>(first.size(), 6));
    EXPECT_EQ(second, std::vector<float>(second.size(), 6));
    EXPECT_EQ(comm.comm(rank).channels[0].work_counter, 2U);
  });
}

INSTANTIATE_TEST_SUITE_P(Variants, DeviceKernel,
                         ::testing::Values(AllReduceCase{Algorithm::kRing, Protocol::kLl},
                                           AllReduceCase{Algorithm::kRing, Protocol::kLl128},
                                           AllReduceCase{Algorithm::kRing, Protocol::kSimple},
                                           AllReduceCase{Algorithm::kTree, Protocol::kLl},
                                           AllReduceCase{Algorithm::kTree, Protocol::kLl128},
                                           AllReduceCase{Algorithm::kTree, Protocol::kSimple}));

TEST(DeviceKernelWorks, AreReadFromAFifoThatWrapsInsideAWork) {
  constexpr int kRanks = 2;
  constexpr uint32_t kFifoBytes = 128;
  constexpr uint32_t kOffset = kFifoBytes * 5 + 80;  // 48 bytes before the end, in round five
  FakeCommunicator comm(kRanks);
  const int row =
      all_reduce_row(Operation::kSum, ElementType::kInt64, Algorithm::kRing, Protocol::kSimple);
  in_threads(kRanks, [&](int rank) {
    const std::vector<int64_t> input(33, rank + 1);
    std::vector<int64_t> output(input.size());
    const layout::CollectiveWork work = collective(input.data(), output.data(), output.size());
    alignas(16) std::array<char, kFifoBytes> fifo = {};
    for (size_t i = 0; i < sizeof work; ++i) {
      fifo[(kOffset + i) % kFifoBytes] = reinterpret_cast<const char*>(&work)[i];
    }
    ArgumentBlock arguments(comm.comm(rank),
                            {batch(layout::WorkType::kCollective, row, kOffset, 1)});
    arguments.head().storage = layout::WorkStorage::kFifo;
    arguments.head().work_mask = kFifoBytes - 1;
    arguments.head().work_buffer = fifo.data();
    EXPECT_THAT(arguments.run(), IsEmpty());
    EXPECT_EQ(output, std::vector<int64_t>(output.size(), 3));
  });
}

TEST(DeviceKernelWorks, FollowTheLinksBetweenBatches) {
  constexpr int kRanks = 2;
  FakeCommunicator comm(kRanks);
  const int sum =
      all_reduce_row(Operation::kSum, ElementType::kInt32, Algorithm::kRing, Protocol::kLl);
  const int product =
      all_reduce_row(Operation::kProduct, ElementType::kInt32, Algorithm::kTree, Protocol::kSimple);
  in_threads(kRanks, [&](int rank) {
    const int32_t input = rank + 3;
    std::array<int32_t, 3> outputs = {};
    // The first batch goes on in its neighbour; the second lies two further on.
    layout::WorkBatch first = batch(layout::WorkType::kCollective, sum, first_work_offset(4), 1);
    first.next_jump = 1;
    first.next_extends = 1;
    layout::WorkBatch more = batch(layout::WorkType::kCollective, sum,
                                   first_work_offset(4) + sizeof(layout::CollectiveWork), 1);
    more.next_jump = 2;
    const layout::WorkBatch somebody_elses = batch(layout::WorkType::kCollective, 1, 0, 1);
    const layout::WorkBatch last =
        batch(layout::WorkType::kCollective, product, first_work_offset(4), 0b100);
    ArgumentBlock arguments(comm.comm(rank), {first, more, somebody_elses, last});
    for (int32_t& output : outputs) {
      arguments.add(collective(&input, &output, 1));
    }
    EXPECT_THAT(arguments.run(), IsEmpty());
    EXPECT_EQ(outputs, (std::array<int32_t, 3>{7, 7, 12}));
    EXPECT_EQ(comm.comm(rank).channels[0].work_counter, 3U);
  });
}

TEST(DeviceKernelWorks, ReadTheFactorOfAScaledSumFromMemory) {
  constexpr int kRanks = 2;
  FakeCommunicator comm(kRanks);
  const int row = all_reduce_row(Operation::kPreMultipliedSum, ElementType::kFloat64,
                                 Algorithm::kRing, Protocol::kLl128);
  in_threads(kRanks, [&](int rank) {
    const double input = rank + 1;
    const double factor = rank == 0 ? 10 : 100;
    double output = 0;
    layout::CollectiveWork work = collective(&input, &output, 1);
    work.argument = reinterpret_cast<uint64_t>(&factor);
    work.argument_is_pointer = 1;
    ArgumentBlock arguments(comm.comm(rank),
                            {batch(layout::WorkType::kCollective, row, first_work_offset(1), 1)});
    arguments.add(work);
    EXPECT_THAT(arguments.run(), IsEmpty());
    EXPECT_EQ(output, 210);
  });
}

layout::SendReceiveWork exchange(std::vector<char>& to_send, int to, std::vector<char>& to_receive,
                                 int from, bool ll) {
  layout::SendReceiveWork work = {};
  work.send_address = to_send.data();
  work.receive_address = to_receive.data();
  work.send_bytes = to_send.size();
  work.receive_bytes = to_receive.size();
  work.send_rank = to;
  work.receive_rank = from;
  work.channel_count = 1;
  work.send_channels = 1;
  work.receive_channels = 1;
  work.send_chunk_code = 7 << 3;  // 512 bytes
  work.receive_chunk_code = 7 << 3;
  work.send_ll = ll;
  work.receive_ll = ll;
  return work;
}

TEST(DeviceKernelSends, AllToAllRunsInOneBatch) {
  constexpr int kRanks = 4;
  for (const bool ll : {false, true}) {
    for (const size_t bytes : {0U, 1U, 4097U, 30'001U}) {
      FakeCommunicator comm(kRanks);
      in_threads(kRanks, [&](int rank) {
        std::vector<std::vector<char>> sent;
        std::vector<std::vector<char>> received(kRanks, std::vector<char>(bytes));
        ArgumentBlock arguments(comm.comm(rank),
                                {batch(layout::WorkType::kSendReceive, kSendReceiveRow,
                                       first_work_offset(1), (1U << kRanks) - 1)});
        for (int to = 0; to < kRanks; ++to) {
          sent.emplace_back(bytes, static_cast<char>(16 * rank + to));
        }
        for (int distance = 0; distance < kRanks; ++distance) {
          const int to = (rank + distance) % kRanks;
          const int from = (rank + kRanks - distance) % kRanks;
          arguments.add(exchange(sent[static_cast<size_t>(to)], to,
                                 received[static_cast<size_t>(from)], from, ll));
        }
        EXPECT_THAT(arguments.run(), IsEmpty());
        for (int from = 0; from < kRanks; ++from) {
          EXPECT_EQ(received[static_cast<size_t>(from)],
                    std::vector<char>(bytes, static_cast<char>(16 * from + rank)));
        }
      });
    }
  }
}

TEST(DeviceKernelAbort, EndsAWaitAtOnce) {
  FakeCommunicator comm(2);
  const int row =
      all_reduce_row(Operation::kSum, ElementType::kInt32, Algorithm::kRing, Protocol::kSimple);
  const int32_t input = 1;
  int32_t output = 0;
  ArgumentBlock arguments(comm.comm(0),
                          {batch(layout::WorkType::kCollective, row, first_work_offset(1), 1)});
  arguments.add(collective(&input, &output, 1));
  std::thread alone([&] { EXPECT_THAT(arguments.run(), IsEmpty()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto start = std::chrono::steady_clock::now();
  comm.abort();
  alone.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(DeviceKernelRefusal, NamesWhatIsNotEmulatedAndHowToAvoidIt) {
  FakeCommunicator comm(2);
  float data = 0;
  const auto complaint = [&](int row, const layout::CollectiveWork& work,
                             layout::WorkType type = layout::WorkType::kCollective) {
    ArgumentBlock arguments(comm.comm(0), {batch(type, row, first_work_offset(1), 1)});
    arguments.add(work);
    return arguments.run();
  };
  const layout::CollectiveWork plain = collective(&data, &data, 1);
  EXPECT_THAT(complaint(kAllGatherPatSimpleRow, plain), HasSubstr("NCCL_PAT_ENABLE=0"));
  const auto float_sum = [](Algorithm algorithm) {
    return all_reduce_row(Operation::kSum, ElementType::kFloat32, algorithm, Protocol::kSimple);
  };
  EXPECT_THAT(complaint(float_sum(Algorithm::kNvlsTree), plain), HasSubstr("NCCL_NVLS_ENABLE=0"));
  EXPECT_THAT(complaint(float_sum(Algorithm::kCollNetChain), plain),
              HasSubstr("NCCL_COLLNET_ENABLE=0"));
  EXPECT_THAT(
      complaint(float_sum(Algorithm::kNvls), plain, layout::WorkType::kRegisteredCollective),
      HasSubstr("NCCL_NVLS_ENABLE=0"));
  EXPECT_THAT(complaint(all_reduce_row(Operation::kSum, ElementType::kFloat8E4m3, Algorithm::kRing,
                                       Protocol::kSimple),
                        plain),
              HasSubstr("8-bit floats"));
  layout::CollectiveWork registered = plain;
  registered.net_registered = 1;
  EXPECT_THAT(complaint(float_sum(Algorithm::kRing), registered),
              HasSubstr("NCCL_GRAPH_REGISTER=0"));
  EXPECT_THAT(complaint(function_row_count(), plain), HasSubstr("function table"));
}

TEST(DeviceKernelRefusal, AnUnknownNcclVersionIsNotTouched) {
  EXPECT_TRUE(layouts_known(22809));
  EXPECT_FALSE(layouts_known(22903));
  const NcclImage other{.version = 22903, .dev_func_row_to_id = nullptr};
  EXPECT_THAT(run_kernel(other, nullptr, 0), HasSubstr("22903"));
}

TEST(DeviceKernelRefusal, WorksOutsideTheArgumentBlockAreNotRead) {
  FakeCommunicator comm(2);
  const int row =
      all_reduce_row(Operation::kSum, ElementType::kInt32, Algorithm::kRing, Protocol::kSimple);
  ArgumentBlock arguments(comm.comm(0), {batch(layout::WorkType::kCollective, row, 100'000, 1)});
  EXPECT_THAT(arguments.run(), HasSubstr("outside"));
}

TEST(DeviceOneRankKernel, ScalesByAValueOrByWhatAnAddressHolds) {
  constexpr const char* kSymbol =
      "_ZN43_GLOBAL__N__00000000_10_onerank_cu_0000000013oneRankReduceI13FuncPreMulSumI"
      "fEEEvPvS3_mmb";
  std::vector<float> source = {1, 2, 3};
  std::vector<float> destination(3);
  void* to = destination.data();
  void* from = source.data();
  size_t count = 3;
  const float factor = 2.5;
  uint64_t argument = reinterpret_cast<uint64_t>(&factor);
  bool is_address = true;
  void* arguments[] = {&to, &from, &count, &argument, &is_address};
  ASSERT_TRUE(is_one_rank_kernel(kSymbol));
  one_rank_kernel(kSymbol, arguments)();
  EXPECT_EQ(destination, (std::vector<float>{2.5, 5, 7.5}));
  const float other_factor = -1;
  argument = 0;
  std::memcpy(&argument, &other_factor, sizeof other_factor);
  is_address = false;
  one_rank_kernel(kSymbol, arguments)();
  EXPECT_EQ(destination, (std::vector<float>{-1, -2, -3}));
  EXPECT_FALSE(is_one_rank_kernel("_Z23ncclDevKernel_Generic"));
  EXPECT_FALSE(one_rank_kernel("x13oneRankReduceI13FuncPreMulSumI13__nv_fp8_e4m3EEE", arguments));
}

}  // namespace
}  // namespace rocelane::lab
