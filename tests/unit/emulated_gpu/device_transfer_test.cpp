#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/ll128_line.h"
#include "device/ll_line.h"
#include "device/patience.h"
#include "device/registered_fifo.h"
#include "device/ring.h"
#include "device/send_receive.h"
#include "device/transfer.h"
#include "device/tree.h"
#include "device_pipe.h"

namespace rocelane::lab {
namespace {

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  }
  return bytes;
}

void run(Transfer& transfer) {
  Patience patience;
  for (Progress progress = transfer.advance(); progress != Progress::kFinished;
       progress = transfer.advance()) {
    progress == Progress::kMoved ? patience.reset() : patience.pause();
  }
}

template <class End>
std::vector<std::unique_ptr<End>> just(std::unique_ptr<End> end) {
  std::vector<std::unique_ptr<End>> ends;
  ends.push_back(std::move(end));
  return ends;
}

// Bytes of data that fit into one step.
size_t largest_chunk(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl:
      return ConnectionMemory::step_bytes(protocol) / 2;
    case Protocol::kLl128:
      return ConnectionMemory::step_bytes(protocol) / kLl128LineBytes * kLl128DataBytes;
    case Protocol::kSimple:
      return ConnectionMemory::step_bytes(protocol);
  }
  return 0;
}

// What NCCL's proxies and a network do between two ranks: takes finished steps out of the sender's
// memory, puts them into the receiver's and returns credit. Judges readiness as the send proxy
// does.
class ProxyPair {
 public:
  ProxyPair(ConnectionMemory& from, ConnectionMemory& to, Protocol protocol, uint64_t first_step)
      : from_(from), to_(to), protocol_(protocol), step_(first_step) {}

  void serve(const std::atomic<bool>& stop) {
    Patience patience;
    while (!stop) {
      if (carries_step()) {
        patience.reset();
      } else {
        patience.pause();
      }
    }
  }

  std::vector<ssize_t> sizes;

 private:
  bool carries_step() {
    const size_t index = step_ % kFifoSteps;
    const ssize_t size = load_shared(from_.slots[index].size);
    if (size == -1 || (protocol_ != Protocol::kLl && load_shared(from_.tail) <= step_)) {
      return false;
    }
    if (load_shared(to_.head) + kFifoSteps <= step_) {
      return false;
    }
    const size_t offset = index * ConnectionMemory::step_bytes(protocol_);
    const std::byte* source = from_.buffer(protocol_) + offset;
    const auto bytes = static_cast<size_t>(size);
    if (!is_ready(source, bytes)) {
      return false;
    }
    copy_words(to_.buffer(protocol_) + offset, source, bytes);
    sizes.push_back(size);
    store_shared(from_.slots[index].size, ssize_t{-1});
    ++step_;
    store_shared(from_.head, step_);
    store_shared(to_.tail, step_);
    return true;
  }

  // The receiver may be looking at the lines already.
  static void copy_words(std::byte* to, const std::byte* from, size_t bytes) {
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
      store_shared(*reinterpret_cast<uint64_t*>(to + done),
                   load_shared(*reinterpret_cast<const uint64_t*>(from + done)));
    }
  }

  bool is_ready(const std::byte* lines, size_t bytes) const {
    switch (protocol_) {
      case Protocol::kLl: {
        const size_t count = bytes / kLlLineBytes;
        return count_ll_lines(lines, count, static_cast<uint32_t>(step_ + 1)) == count;
      }
      case Protocol::kLl128: {
        const size_t count = bytes / kLl128LineBytes;
        return count_ll128_lines(lines, count, step_ + 1) == count;
      }
      case Protocol::kSimple:
        return true;
    }
    return false;
  }

  ConnectionMemory& from_;
  ConnectionMemory& to_;
  Protocol protocol_;
  uint64_t step_;
};

class DeviceTransfer : public ::testing::TestWithParam<Protocol> {};

std::string name_of_case(const ::testing::TestParamInfo<Protocol>& tested) {
  constexpr std::array kNames = {"Ll", "Ll128", "Simple"};
  return kNames[static_cast<size_t>(tested.param)];
}

TEST_P(DeviceTransfer, MessagesOfAnySizePassOneAfterTheOther) {
  ConnectionMemory memory;
  uint64_t send_step = 0;
  uint64_t receive_step = 0;
  const size_t chunk = largest_chunk(GetParam());
  const std::vector<size_t> sizes = {0, 1, 3, 17, 1000, 4097, chunk, chunk + 1, 100'003};
  std::thread sender([&] {
    for (const size_t size : sizes) {
      const std::vector<std::byte> bytes = some_bytes(size);
      Transfer transfer(send_leg(1, size, chunk).moves, {.input = bytes.data()}, copying(), {}, {},
                        just(make_outlet(GetParam(), memory.connection(send_step, false))));
      run(transfer);
    }
  });
  for (const size_t size : sizes) {
    std::vector<std::byte> bytes(size + 8, std::byte{0xa5});
    Transfer transfer(receive_leg(0, size, chunk).moves, {.output = bytes.data()}, copying(), {},
                      just(make_inlet(GetParam(), memory.connection(receive_step, false))), {});
    run(transfer);
    std::vector<std::byte> expected = some_bytes(size);
    expected.resize(size + 8, std::byte{0xa5});
    EXPECT_EQ(bytes, expected) << size;
  }
  sender.join();
}

TEST_P(DeviceTransfer, MessagesPassThroughProxies) {
  ConnectionMemory local;
  ConnectionMemory remote;
  uint64_t send_step = 0;
  uint64_t receive_step = 0;
  const size_t chunk = largest_chunk(GetParam());
  ProxyPair proxies(local, remote, GetParam(), 0);
  std::atomic<bool> stop = false;
  std::thread network([&] { proxies.serve(stop); });
  const std::vector<std::byte> sent = some_bytes(50'021);
  std::thread sender([&] {
    Transfer transfer(send_leg(1, sent.size(), chunk).moves, {.input = sent.data()}, copying(), {},
                      {}, just(make_outlet(GetParam(), local.connection(send_step, true))));
    run(transfer);
  });
  std::vector<std::byte> received(sent.size());
  Transfer transfer(receive_leg(0, sent.size(), chunk).moves, {.output = received.data()},
                    copying(), {},
                    just(make_inlet(GetParam(), remote.connection(receive_step, true))), {});
  run(transfer);
  sender.join();
  stop = true;
  network.join();
  EXPECT_EQ(received, sent);
}

TEST_P(DeviceTransfer, TheNextWorkStartsWhereTheLastOneEnded) {
  ConnectionMemory memory;
  uint64_t send_step = 0;
  uint64_t receive_step = 0;
  const std::vector<std::byte> bytes = some_bytes(100);
  {
    Transfer transfer(send_leg(1, 100, 30).moves, {.input = bytes.data()}, copying(), {}, {},
                      just(make_outlet(GetParam(), memory.connection(send_step, false))));
    run(transfer);
  }
  EXPECT_EQ(send_step, 4U);
  std::vector<std::byte> received(100);
  {
    Transfer transfer(receive_leg(0, 100, 30).moves, {.output = received.data()}, copying(), {},
                      just(make_inlet(GetParam(), memory.connection(receive_step, false))), {});
    run(transfer);
  }
  EXPECT_EQ(receive_step, 4U);
  EXPECT_EQ(memory.head, 4U);
  EXPECT_EQ(received, bytes);
}

TEST_P(DeviceTransfer, ASenderStopsWhenAllStepsAreFull) {
  ConnectionMemory memory;
  uint64_t send_step = 0;
  const std::vector<std::byte> bytes = some_bytes(16);
  Transfer transfer(send_leg(1, 16, 1).moves, {.input = bytes.data()}, copying(), {}, {},
                    just(make_outlet(GetParam(), memory.connection(send_step, false))));
  for (uint64_t step = 0; step < kFifoSteps; ++step) {
    EXPECT_EQ(transfer.advance(), Progress::kMoved);
  }
  EXPECT_EQ(transfer.advance(), Progress::kWaiting);
  store_shared(memory.head, uint64_t{1});
  EXPECT_EQ(transfer.advance(), Progress::kMoved);
  EXPECT_EQ(transfer.advance(), Progress::kWaiting);
}

TEST_P(DeviceTransfer, AProxyThatHasOfferedNoBufferKeepsTheSenderWaiting) {
  ConnectionMemory memory;
  memory.head = ~uint64_t{0} - kFifoSteps + 1;
  uint64_t send_step = 0;
  const std::byte byte{7};
  Transfer transfer(send_leg(1, 1, 1).moves, {.input = &byte}, copying(), {}, {},
                    just(make_outlet(GetParam(), memory.connection(send_step, true))));
  EXPECT_EQ(transfer.advance(), Progress::kWaiting);
  EXPECT_EQ(memory.slots[0].size, -1);
  store_shared(memory.head, memory.head + 1);
  EXPECT_EQ(transfer.advance(), Progress::kMoved);
}

// Every rank in a thread of its own, on a ring of direct connections.
class Cluster {
 public:
  explicit Cluster(int ranks) : ranks_(ranks) {}

  Transfer open(int rank, Leg leg, const UserBuffers& buffers, Protocol protocol,
                const Slicing& slicing, SimpleSteps steps) {
    std::vector<std::unique_ptr<Inlet>> inlets;
    for (const int peer : leg.from) {
      Link& link = this->link(peer, rank);
      inlets.push_back(
          make_inlet(protocol, link.memory.connection(link.receive_step, false), steps));
    }
    std::vector<std::unique_ptr<Outlet>> outlets;
    for (const int peer : leg.to) {
      Link& link = this->link(rank, peer);
      outlets.push_back(
          make_outlet(protocol, link.memory.connection(link.send_step, false), steps));
    }
    return {std::move(leg.moves),
            buffers,
            *arithmetic_for(Operation::kSum, ElementType::kInt32, 0),
            slicing,
            std::move(inlets),
            std::move(outlets)};
  }

  template <class RunRank>
  void run_ranks(RunRank run_rank) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([=] { run_rank(rank); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  // Connections exist before threads ask for them.
  void connect(int from, int to) { links_[{from, to}] = std::make_unique<Link>(); }

 private:
  struct Link {
    ConnectionMemory memory;
    uint64_t send_step = 0;
    uint64_t receive_step = 0;
  };
  Link& link(int from, int to) { return *links_.at({from, to}); }

  int ranks_;
  std::map<std::pair<int, int>, std::unique_ptr<Link>> links_;
};

TEST_P(DeviceTransfer, RanksInThreadsAllReduceOnARing) {
  const bool is_simple = GetParam() == Protocol::kSimple;
  const SimpleSteps steps = is_simple ? SimpleSteps{2, 2} : SimpleSteps{};
  const Slicing slicing{.slices = steps.slices_per_chunk, .smallest = is_simple ? 32U : 0U};
  for (const int ranks : {2, 3, 4}) {
    Cluster cluster(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      cluster.connect(rank, (rank + 1) % ranks);
    }
    for (const size_t count : {1U, 17U, 1000U, 20'011U}) {
      const Part part{.total = count, .offset = 0, .count = count, .chunk = 128};
      std::vector<std::vector<int32_t>> data(static_cast<size_t>(ranks));
      cluster.run_ranks([&](int rank) {
        std::vector<int32_t>& mine = data[static_cast<size_t>(rank)];
        for (size_t i = 0; i < count; ++i) {
          mine.push_back(static_cast<int32_t>(i) * (rank + 1));
        }
        std::vector<int> order;
        for (int hop = 0; hop < ranks; ++hop) {
          order.push_back((rank + hop) % ranks);
        }
        const RingPlace place{
            .previous = order.back(), .next = order[1], .index = rank, .ranks = order};
        auto* memory = reinterpret_cast<std::byte*>(mine.data());
        Transfer transfer =
            cluster.open(rank, ring_all_reduce(place, part, 4), {.input = memory, .output = memory},
                         GetParam(), slicing, steps);
        run(transfer);
      });
      const int32_t factor = ranks * (ranks + 1) / 2;
      for (const std::vector<int32_t>& result : data) {
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(result[i], static_cast<int32_t>(i) * factor) << ranks << " ranks, " << i;
        }
      }
    }
  }
}

TEST_P(DeviceTransfer, RanksInThreadsAllReduceOnATree) {
  const std::array<TreePlace, 4> places = {
      TreePlace{.up = -1, .down = {2}}, TreePlace{.up = 2, .down = {}},
      TreePlace{.up = 0, .down = {1, 3}}, TreePlace{.up = 2, .down = {}}};
  Cluster cluster(4);
  for (const auto& [a, b] : {std::pair{0, 2}, {1, 2}, {3, 2}}) {
    cluster.connect(a, b);
    cluster.connect(b, a);
  }
  const Part part{.total = 9001, .offset = 0, .count = 9001, .chunk = 100};
  std::vector<std::vector<int32_t>> inputs(4);
  std::vector<std::vector<int32_t>> outputs(4, std::vector<int32_t>(part.count));
  cluster.run_ranks([&](int rank) {
    std::vector<int32_t>& input = inputs[static_cast<size_t>(rank)];
    for (size_t i = 0; i < part.count; ++i) {
      input.push_back(static_cast<int32_t>(i) + rank);
    }
    const UserBuffers buffers{
        .input = reinterpret_cast<const std::byte*>(input.data()),
        .output = reinterpret_cast<std::byte*>(outputs[static_cast<size_t>(rank)].data())};
    std::vector<Transfer> transfers;
    for (Leg& leg : tree_all_reduce(places[static_cast<size_t>(rank)], part)) {
      transfers.push_back(cluster.open(rank, std::move(leg), buffers, GetParam(), {}, {}));
    }
    Patience patience;
    while (!transfers.empty()) {
      std::erase_if(transfers,
                    [](Transfer& transfer) { return transfer.advance() == Progress::kFinished; });
      patience.pause();
    }
  });
  for (const std::vector<int32_t>& output : outputs) {
    for (size_t i = 0; i < part.count; ++i) {
      ASSERT_EQ(output[i], 4 * static_cast<int32_t>(i) + 6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, DeviceTransfer, ::testing::ValuesIn(kAllProtocols),
                         name_of_case);

TEST(DeviceSimpleFifo, StepsSkippedToReachAChunkBorderAreGivenBack) {
  ConnectionMemory memory;
  uint64_t step = 5;
  { SimpleInlet inlet(memory.connection(step, false), {2, 2}); }
  EXPECT_EQ(memory.head, 8U);
  EXPECT_EQ(step, 8U);
}

TEST(DeviceSimpleFifo, SlicesOfTwoStepsCountTwo) {
  ConnectionMemory memory;
  uint64_t step = 0;
  SimpleOutlet outlet(memory.connection(step, true), {2, 2});
  for (uint64_t slice = 1; slice <= 4; ++slice) {
    ASSERT_TRUE(outlet.has_room(100));
    outlet.publish();
    EXPECT_EQ(memory.tail, 2 * slice);
    EXPECT_EQ(memory.slots[2 * (slice - 1)].size, 100);
  }
  EXPECT_FALSE(outlet.has_room(100));
}

TEST(DeviceSimpleFifo, AProxyMayPlaceEveryStepElsewhere) {
  ConnectionMemory memory;
  uint64_t send_step = 1;
  uint64_t receive_step = 1;
  memory.slots[1].mode = static_cast<int>(SlotMode::kOffset);
  memory.slots[1].offset = 640;
  SimpleOutlet outlet(memory.connection(send_step, true), {});
  SimpleInlet inlet(memory.connection(receive_step, true), {});
  EXPECT_EQ(outlet.space(), memory.buffer(Protocol::kSimple) + 640);
  EXPECT_EQ(inlet.data(), memory.buffer(Protocol::kSimple) + 640);
}

TEST(DeviceLlFifo, TheProxyIsToldWholeLines) {
  ConnectionMemory memory;
  uint64_t step = 0;
  LlOutlet outlet(memory.connection(step, true), ConnectionMemory::buffer_bytes(Protocol::kLl));
  ASSERT_TRUE(outlet.has_room(17));
  std::memset(outlet.space(), 1, 17);
  outlet.publish();
  EXPECT_EQ(memory.slots[0].size, 3 * 16);
  EXPECT_EQ(memory.tail, 0U);
}

TEST(DeviceLlFifo, BeforeFlagsWrapAroundEveryLineIsRewritten) {
  for (const uint64_t step_before : {0x7ffffff8ULL, 0xffffffffULL, 0x17ffffffaULL}) {
    ConnectionMemory memory;
    uint64_t step = step_before;
    memory.head = step;
    ASSERT_TRUE(is_cleaning_step(step));
    {
      LlOutlet outlet(memory.connection(step, true), ConnectionMemory::buffer_bytes(Protocol::kLl));
      ASSERT_TRUE(outlet.has_room(8));
      std::memset(outlet.space(), 1, 8);
      outlet.publish();
    }
    const size_t index = step_before % kFifoSteps;
    const size_t bytes = ConnectionMemory::step_bytes(Protocol::kLl);
    EXPECT_EQ(memory.slots[index].size, static_cast<ssize_t>(bytes));
    EXPECT_EQ(count_ll_lines(memory.buffer(Protocol::kLl) + index * bytes, bytes / kLlLineBytes,
                             static_cast<uint32_t>(step_before + 1)),
              bytes / kLlLineBytes);
  }
  EXPECT_FALSE(is_cleaning_step(0));
  EXPECT_FALSE(is_cleaning_step(0x7ffffff7));
  EXPECT_FALSE(is_cleaning_step(0x80000000));
}

TEST(DeviceLl128Fifo, TheProxyIsToldWholeUnitsAndASteppedTail) {
  ConnectionMemory memory;
  uint64_t step = 0;
  Ll128Outlet outlet(memory.connection(step, true),
                     ConnectionMemory::buffer_bytes(Protocol::kLl128));
  ASSERT_TRUE(outlet.has_room(1921));
  std::memset(outlet.space(), 1, 1921);
  outlet.publish();
  EXPECT_EQ(memory.slots[0].size, 2 * 2048);
  EXPECT_EQ(memory.tail, 1U);
}

TEST(DeviceRegisteredFifo, DataStaysInPlaceAndTheWorkEndsWithTheNetwork) {
  ConnectionMemory memory;
  uint64_t send_step = 3;
  memory.head = 3;
  const std::byte* nothing = nullptr;
  Transfer transfer(
      send_leg(1, 5000, size_t{1} << 30).moves, {.input = nothing}, copying(), {}, {},
      just<Outlet>(std::make_unique<RegisteredOutlet>(memory.connection(send_step, true))));
  EXPECT_EQ(transfer.advance(), Progress::kMoved);
  EXPECT_EQ(memory.slots[3].size, 5000);
  EXPECT_EQ(memory.tail, 4U);
  EXPECT_EQ(transfer.advance(), Progress::kWaiting);
  store_shared(memory.slots[3].size, ssize_t{-1});
  EXPECT_EQ(transfer.advance(), Progress::kFinished);
}

TEST(DeviceRegisteredFifo, AReceiverLetsTheProxyStartAndCountsItsSteps) {
  ConnectionMemory memory;
  uint64_t step = 2;
  RegisteredInlet inlet(memory.connection(step, true));
  EXPECT_EQ(memory.slots[2].size, 0);
  EXPECT_FALSE(inlet.has_arrived(100));
  store_shared(memory.tail, uint64_t{3});
  EXPECT_TRUE(inlet.has_arrived(100));
  inlet.release();
  EXPECT_EQ(memory.head, 3U);
}

}  // namespace
}  // namespace rocelane::lab
