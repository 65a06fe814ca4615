// Several threads: on queue pairs of their own, on one completion queue, on one queue pair.

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Concurrency : public PairTest {};

TEST_F(Concurrency, ThreadsWithQueuePairsOfTheirOwnShareACompletionQueue) {
  constexpr size_t kThreads = 4;
  constexpr uint64_t kWrites = 100;
  const CompletionQueue shared(
      ibv_create_cq(context(), static_cast<int>(kThreads * kWrites), nullptr, nullptr, 0));
  ASSERT_NE(shared, nullptr);
  Shape shape;
  shape.completions = shared.get();
  shape.send_depth = kWrites;
  std::vector<std::unique_ptr<Endpoint>> requesters;
  std::vector<std::unique_ptr<Endpoint>> responders;
  for (size_t i = 0; i < kThreads; ++i) {
    requesters.push_back(make_endpoint(shape));
    responders.push_back(make_endpoint());
    ASSERT_EQ(requesters[i]->connect(responders[i]->address()), 0);
    ASSERT_EQ(responders[i]->connect(requesters[i]->address()), 0);
  }
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t n = 0; n < kWrites; ++n) {
        const size_t place = (i * kWrites + n) * 1000;
        if (requesters[i]->write(n, source_->piece(place, 999), target_->remote(place)) != 0) {
          ++refused;
        }
      }
    });
  }
  const auto all = wait_for(shared.get(), kThreads * kWrites);
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(refused, 0);
  ASSERT_EQ(all.size(), kThreads * kWrites);
  std::map<uint32_t, uint64_t> next;  // of each queue pair
  for (const ibv_wc& completion : all) {
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion.wr_id, next[completion.qp_num]++) << "out of order within its queue pair";
  }
  EXPECT_EQ(next.size(), kThreads);
  for (size_t place = 0; place < kThreads * kWrites * 1000; place += 1000) {
    ASSERT_EQ(std::memcmp(target_->data() + place, source_->data() + place, 999), 0);
    ASSERT_EQ(target_->data()[place + 999], kUntouched);
  }
}

TEST_F(Concurrency, ThreadsPostToOneQueuePair) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kWrites = 50;
  Shape shape;
  shape.send_depth = kThreads * kWrites;
  shape.completion_depth = kThreads * kWrites;
  connect(shape);
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t n = 0; n < kWrites; ++n) {
        const uint64_t id = i * kWrites + n;
        if (requester_->write(id, source_->piece(id * 100, 100), target_->remote(id * 100)) != 0) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(refused, 0);
  const auto all = requester_->sent(kThreads * kWrites);
  EXPECT_EQ(statuses(all), std::vector(kThreads * kWrites, IBV_WC_SUCCESS));
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), kThreads * kWrites * 100), 0);
}

TEST_F(Concurrency, ManyThreadsPollOneCompletionQueue) {
  constexpr uint64_t kWrites = 200;
  Shape shape;
  shape.send_depth = kWrites;
  shape.completion_depth = kWrites;
  connect(shape);
  std::vector<std::atomic<int>> seen(kWrites);
  std::atomic<uint64_t> count = 0;
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (count < kWrites && std::chrono::steady_clock::now() - start < kPatience) {
        ibv_wc completion{};
        if (ibv_poll_cq(requester_->send_completions(), 1, &completion) == 1) {
          ++seen[completion.wr_id];
          ++count;
        }
      }
    });
  }
  for (uint64_t i = 0; i < kWrites; ++i) {
    EXPECT_EQ(requester_->write(i, source_->piece(0, 100), target_->remote()), 0);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (uint64_t i = 0; i < kWrites; ++i) {
    EXPECT_EQ(seen[i], 1) << i;
  }
}

}  // namespace
}  // namespace rocelane::contract
