// What becomes of posted work when a queue pair stops, and that it really has stopped.

#include <atomic>
#include <cstring>
#include <thread>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

using std::chrono::milliseconds;

std::vector<uint64_t> numbers(uint64_t from, uint64_t count) {
  std::vector<uint64_t> result;
  for (uint64_t i = 0; i < count; ++i) {
    result.push_back(from + i);
  }
  return result;
}

class Flush : public PairTest {
 protected:
  static void expect_flushed(const std::vector<ibv_wc>& completions, uint64_t from, uint64_t count,
                             const Endpoint& endpoint) {
    EXPECT_EQ(ids(completions), numbers(from, count));
    for (const ibv_wc& completion : completions) {
      EXPECT_EQ(completion.status, IBV_WC_WR_FLUSH_ERR);
      EXPECT_EQ(completion.qp_num, endpoint.number());
    }
  }
};

TEST_F(Flush, BothQueuesAreFlushedInOrder) {
  for (uint64_t i = 0; i < 10; ++i) {
    // No receive is there for the first send, so all of them wait.
    ASSERT_EQ(requester_->send(i, source_->piece(0, 100), i % 2 == 0 ? kSignaled : kUnsignaled), 0);
    ASSERT_EQ(requester_->receive(100 + i, target_->piece(0, 100)), 0);
  }
  EXPECT_TRUE(collect_for(requester_->send_completions(), milliseconds(5)).empty());
  ASSERT_EQ(requester_->to_error(), 0);
  // Errors are told even of unsignaled requests.
  expect_flushed(requester_->sent(10), 0, 10, *requester_);
  expect_flushed(requester_->received(10), 100, 10, *requester_);
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  EXPECT_TRUE(collect_for(requester_->receive_completions(), milliseconds(1)).empty());
}

TEST_F(Flush, WorkThatWasDoneIsNotFlushed) {
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 100), target_->remote()), 0);
  }
  // One is polled, so that all are known to be on their way or done; the rest stays in the
  // completion queue.
  ASSERT_EQ(requester_->sent(1).size(), 1U);
  EXPECT_FALSE(collect_for(responder_->receive_completions(), kQuietTime).size() > 0);
  ASSERT_EQ(requester_->to_error(), 0);
  const auto sent = requester_->sent(4);
  EXPECT_EQ(ids(sent), numbers(1, 4));
  EXPECT_EQ(statuses(sent), std::vector(4, IBV_WC_SUCCESS));
}

TEST_F(Flush, TheFirstErrorTellsTheCauseAndTheRestIsFlushed) {
  RemoteMemory wrong = target_->remote();
  wrong.rkey ^= 0x00FFFF00;
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(requester_->receive_nothing(100 + i), 0);
    ASSERT_EQ(responder_->receive_nothing(200 + i), 0);
  }
  ibv_sge local = source_->piece(0, 100);
  ibv_send_wr list[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    list[i].wr_id = i;
    list[i].next = i < 3 ? &list[i + 1] : nullptr;
    list[i].opcode = IBV_WR_RDMA_WRITE;
    list[i].sg_list = &local;
    list[i].num_sge = 1;
    list[i].wr.rdma.remote_addr = target_->remote(i * 1000).address;
    list[i].wr.rdma.rkey = i == 1 ? wrong.rkey : target_->remote().rkey;
  }
  ibv_send_wr* refused = nullptr;
  ASSERT_EQ(ibv_post_send(requester_->queue_pair(), list, &refused), 0);
  const auto sent = requester_->sent(3);
  // The first one has succeeded, and was not signaled.
  EXPECT_EQ(ids(sent), numbers(1, 3));
  EXPECT_EQ(statuses(sent),
            (std::vector{IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), 100), 0);
  EXPECT_EQ(target_->first_other(kUntouched, 1000, 4000), 4000U);
  // Both queue pairs have stopped, and say so of all they had.
  expect_flushed(requester_->received(4), 100, 4, *requester_);
  expect_flushed(responder_->received(4), 200, 4, *responder_);
  EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_ERR);
  EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_ERR);
}

TEST_F(Flush, SendsPostedInErrorAreFlushed) {
  ASSERT_EQ(requester_->to_error(), 0);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 100), target_->remote(), kUnsignaled), 0);
  }
  expect_flushed(requester_->sent(3), 0, 3, *requester_);
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Flush, ReceivesPostedInErrorAreFlushed) {
  ASSERT_EQ(responder_->to_error(), 0);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(responder_->receive_nothing(i), 0);
  }
  if (traits().flushes_receives_posted_in_error) {
    expect_flushed(responder_->received(3), 0, 3, *responder_);
  } else {
    EXPECT_TRUE(collect_for(responder_->receive_completions(), kQuietTime).empty());
  }
}

TEST_F(Flush, AFlushedQueuePairCanBeUsedAgainAfterReset) {
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  ASSERT_EQ(requester_->to_error(), 0);
  expect_flushed(requester_->sent(1), 1, 1, *requester_);
  for (Endpoint* endpoint : {requester_.get(), responder_.get()}) {
    ASSERT_EQ(endpoint->to_reset(), 0);
  }
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  // As many as the queue holds: nothing of the old work takes a place.
  for (uint64_t i = 0; i < Shape{}.send_depth; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 3000), target_->remote()), 0);
  }
  const auto sent = requester_->sent(Shape{}.send_depth);
  EXPECT_EQ(ids(sent), numbers(0, Shape{}.send_depth));
  EXPECT_EQ(statuses(sent), std::vector(Shape{}.send_depth, IBV_WC_SUCCESS));
}

// The fence: a queue pair in ERR touches nothing any more. Failover rests on this.

class Fence : public Flush {
 protected:
  // Writes 1s, 2s, 3s, … over the whole target for as long as the queue pair takes them.
  void keep_writing(const RemoteMemory& remote, const std::atomic<bool>& stop) {
    uint64_t id = 0;
    while (!stop) {
      std::memset(source_->data(), static_cast<int>(++id % 200 + 1), kBytes);
      if (requester_->write(id, source_->piece(0, kBytes), remote) != 0) {
        return;
      }
      const auto sent = requester_->sent(1);
      if (sent.size() != 1 || sent[0].status != IBV_WC_SUCCESS) {
        return;
      }
    }
  }

  void expect_silence() const {
    const std::vector<uint8_t> seen(target_->data(), target_->data() + kBytes);
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(std::memcmp(seen.data(), target_->data(), kBytes), 0) << "written after the fence";
  }

  static constexpr size_t kBytes = 100'000;
};

TEST_F(Fence, NothingIsWrittenAfterTheResponderWentToError) {
  for (int round = 0; round < 8; ++round) {
    connect({}, {}, {11, 1, 7, 12});
    std::atomic<bool> stop = false;
    std::thread writer([&, remote = target_->remote()] { keep_writing(remote, stop); });
    std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(responder_->to_error(), 0);
    if (!traits().error_fences_at_once) {
      std::this_thread::sleep_for(milliseconds(20));
    }
    expect_silence();
    stop = true;
    writer.join();
  }
}

TEST_F(Fence, NothingIsWrittenAfterTheRegionIsGone) {
  for (int round = 0; round < 8; ++round) {
    connect({}, {}, {11, 1, 7, 12});
    std::atomic<bool> stop = false;
    std::thread writer([&, remote = target_->remote()] { keep_writing(remote, stop); });
    std::this_thread::sleep_for(milliseconds(10));
    target_->deregister();
    expect_silence();
    stop = true;
    writer.join();
    target_ = std::make_unique<Memory>(domain(), kMemoryBytes);
  }
}

TEST_F(Fence, ADestroyedQueuePairLeavesNothingBehind) {
  for (int round = 0; round < 8; ++round) {
    connect({}, {}, {11, 1, 7, 12});
    std::atomic<bool> stop = false;
    std::thread writer([&, remote = target_->remote()] { keep_writing(remote, stop); });
    std::this_thread::sleep_for(milliseconds(10));
    responder_->destroy_queue_pair();
    expect_silence();
    stop = true;
    writer.join();
  }
}

}  // namespace
}  // namespace rocelane::contract
