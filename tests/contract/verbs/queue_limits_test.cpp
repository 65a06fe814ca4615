// Full queues: of sends, of receives, of completions.

#include <atomic>
#include <cerrno>
#include <thread>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class QueueLimits : public PairTest {
 protected:
  // What the device made of the depths asked for.
  static ibv_qp_cap capacities(const Endpoint& endpoint) {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr creation{};
    EXPECT_EQ(ibv_query_qp(endpoint.queue_pair(), &attributes, IBV_QP_CAP, &creation), 0);
    return creation.cap;
  }

  void overflow_send_completions() {
    Shape shape;
    shape.completion_depth = 4;
    shape.send_depth = 128;
    connect(shape);
    const int depth = requester_->send_completions()->cqe;
    for (int i = 0; i < depth + 1; ++i) {
      ASSERT_EQ(requester_->write(uint64_t(i), source_->piece(0, 8), target_->remote()), 0);
    }
  }
};

TEST_F(QueueLimits, AFullSendQueueTakesNoMore) {
  // No receive is there, so no send can finish.
  const uint64_t depth = capacities(*requester_).max_send_wr;
  for (uint64_t i = 0; i < depth; ++i) {
    ASSERT_EQ(requester_->send(i, source_->piece(0, 8)), 0) << i << " of " << depth;
  }
  EXPECT_EQ(requester_->send(depth, source_->piece(0, 8)), ENOMEM);

  ASSERT_EQ(responder_->receive(0, target_->piece(0, 8)), 0);
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{0});
  EXPECT_EQ(requester_->send(depth + 1, source_->piece(0, 8)), 0) << "one place is free again";
  EXPECT_EQ(requester_->send(depth + 2, source_->piece(0, 8)), ENOMEM);
}

TEST_F(QueueLimits, AListIsPostedUpToTheRequestThatDoesNotFit) {
  const uint32_t depth = capacities(*requester_).max_send_wr;
  ibv_sge local = source_->piece(0, 8);
  std::vector<ibv_send_wr> list(depth + 3);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i] = {};
    list[i].wr_id = i;
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    list[i].opcode = IBV_WR_SEND;
    list[i].sg_list = &local;
    list[i].num_sge = 1;
    list[i].send_flags = IBV_SEND_SIGNALED;
  }
  ibv_send_wr* refused = nullptr;
  EXPECT_EQ(ibv_post_send(requester_->queue_pair(), list.data(), &refused), ENOMEM);
  EXPECT_EQ(refused, &list[depth]);
  for (uint32_t i = 0; i < depth; ++i) {
    // The responder's queue may be the smaller one.
    ASSERT_EQ(responder_->receive(i, target_->piece(0, 8)), 0);
    const auto sent = requester_->sent(1);
    ASSERT_EQ(ids(sent), std::vector<uint64_t>{i});
    ASSERT_EQ(responder_->received(1).size(), 1U);
  }
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
}

TEST_F(QueueLimits, AListIsPostedUpToTheRequestThatIsWrong) {
  std::vector<ibv_sge> local(capacities(*requester_).max_send_sge + 1, source_->piece(0, 8));
  ibv_send_wr list[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    list[i].wr_id = i;
    list[i].next = i < 2 ? &list[i + 1] : nullptr;
    list[i].opcode = IBV_WR_RDMA_WRITE;
    list[i].sg_list = local.data();
    list[i].num_sge = 1;
    list[i].send_flags = IBV_SEND_SIGNALED;
    list[i].wr.rdma.remote_addr = target_->remote(i * 8).address;
    list[i].wr.rdma.rkey = target_->remote().rkey;
  }
  list[1].num_sge = static_cast<int>(local.size());
  ibv_send_wr* refused = nullptr;
  EXPECT_EQ(ibv_post_send(requester_->queue_pair(), list, &refused), EINVAL);
  EXPECT_EQ(refused, &list[1]);
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{0});
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  EXPECT_EQ(target_->first_other(kUntouched, 8, 64), 64U);
}

TEST_F(QueueLimits, UnsignaledRequestsKeepTheirPlaceUntilALaterOneIsPolled) {
  const uint32_t depth = capacities(*requester_).max_send_wr;
  for (uint32_t i = 0; i < depth; ++i) {
    const unsigned flags = i == depth - 1 ? kSignaled : kUnsignaled;
    ASSERT_EQ(requester_->write(i, source_->piece(i, 1), target_->remote(i), flags), 0);
  }
  // All are done when the last byte is there, and still nothing has been polled.
  const auto start = std::chrono::steady_clock::now();
  volatile const uint8_t* last = target_->data() + depth - 1;
  while (*last == kUntouched && std::chrono::steady_clock::now() - start < kPatience) {
  }
  ASSERT_EQ(*last, source_->data()[depth - 1]);
  if (traits().send_slots_wait_for_poll) {
    EXPECT_EQ(requester_->write(depth, source_->piece(0, 1), target_->remote()), ENOMEM);
  }
  ASSERT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{depth - 1});
  for (uint32_t i = 0; i < depth; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(i, 1), target_->remote(), kUnsignaled), 0)
        << "one polled completion frees all places before it";
  }
  if (!traits().send_slots_wait_for_poll) {
    // Nothing was signaled, nothing can be polled: the places come back by themselves.
    int error = ENOMEM;
    const auto again = std::chrono::steady_clock::now();
    while (error == ENOMEM && std::chrono::steady_clock::now() - again < kPatience) {
      error = requester_->write(depth, source_->piece(0, 1), target_->remote(), 0);
    }
    EXPECT_EQ(error, 0);
  }
}

TEST_F(QueueLimits, ManyRoundsOfASmallQueueWithOneSignalEach) {
  Shape shape;
  shape.send_depth = 4;
  connect(shape);
  for (uint64_t round = 0; round < 100; ++round) {
    for (uint64_t i = 0; i < 4; ++i) {
      const unsigned flags = i == 3 ? kSignaled : kUnsignaled;
      ASSERT_EQ(requester_->write(round, source_->piece(round, 5), target_->remote(8 * i), flags),
                0)
          << "round " << round;
    }
    ASSERT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{round});
  }
}

TEST_F(QueueLimits, AQueuePairWithoutSendQueueTakesNoSends) {
  Shape shape;
  shape.send_depth = 0;
  connect(shape);
  EXPECT_EQ(requester_->write(1, source_->piece(0, 1), target_->remote()), ENOMEM);
  // Its receive queue works.
  ASSERT_EQ(requester_->receive(2, target_->piece(0, 8)), 0);
  ASSERT_EQ(responder_->send(3, source_->piece(0, 8)), 0);
  EXPECT_EQ(ids(requester_->received(1)), std::vector<uint64_t>{2});
}

TEST_F(QueueLimits, AFullReceiveQueueTakesNoMore) {
  const uint32_t depth = capacities(*responder_).max_recv_wr;
  std::vector<ibv_recv_wr> list(depth + 2);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i] = {};
    list[i].wr_id = i;
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
  }
  ibv_recv_wr* refused = nullptr;
  EXPECT_EQ(ibv_post_recv(responder_->queue_pair(), list.data(), &refused), ENOMEM);
  EXPECT_EQ(refused, &list[depth]);
  EXPECT_EQ(responder_->receive_nothing(depth + 1), ENOMEM);
  ASSERT_EQ(requester_->post(1, IBV_WR_SEND, {}), 0);
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{0});
  EXPECT_EQ(responder_->receive_nothing(depth + 2), 0);
}

// Completion queues.

TEST_F(QueueLimits, ACompletionQueueThatOverflowsSaysSo) {
  ASSERT_NO_FATAL_FAILURE(overflow_send_completions());
  const auto event = next_event(kEventTime);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event->element.cq, requester_->send_completions());
  const auto start = std::chrono::steady_clock::now();
  const ibv_qp_state expected =
      traits().send_overflow_breaks_queue_pair ? IBV_QPS_ERR : IBV_QPS_RTS;
  while (state_of(requester_->queue_pair()) != expected &&
         std::chrono::steady_clock::now() - start < kEventTime) {
  }
  EXPECT_EQ(state_of(requester_->queue_pair()), expected);
}

TEST_F(QueueLimits, NothingIsDestroyedWhileAnEventAboutItIsUnacknowledged) {
  ASSERT_NO_FATAL_FAILURE(overflow_send_completions());
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(context(), &event), 0);
  ASSERT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  std::atomic<bool> destroyed = false;
  std::thread destroyer([&] {
    requester_.reset();
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(destroyed);
  ibv_ack_async_event(&event);
  destroyer.join();
  EXPECT_TRUE(destroyed);
}

TEST_F(QueueLimits, AReceiverWhoseCompletionQueueOverflowsStops) {
  Shape shape;
  shape.completion_depth = 4;
  shape.send_depth = 128;
  shape.receive_depth = 128;
  connect({}, shape);
  const int depth = responder_->receive_completions()->cqe;
  for (int i = 0; i < depth + 1; ++i) {
    ASSERT_EQ(responder_->receive_nothing(uint64_t(i)), 0);
    ASSERT_EQ(requester_->post(uint64_t(i), IBV_WR_SEND, {}), 0);
  }
  const auto event = next_event(kEventTime);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event->element.cq, responder_->receive_completions());
  const auto start = std::chrono::steady_clock::now();
  while (state_of(responder_->queue_pair()) != IBV_QPS_ERR &&
         std::chrono::steady_clock::now() - start < kEventTime) {
  }
  EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_ERR);
}

TEST_F(QueueLimits, ACompletionQueueMayBeFullToTheLastPlace) {
  Shape shape;
  shape.completion_depth = 4;
  shape.send_depth = 128;
  connect(shape);
  const auto depth = static_cast<size_t>(requester_->send_completions()->cqe);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < depth; ++i) {
      ASSERT_EQ(requester_->write(i, source_->piece(0, 8), target_->remote()), 0);
    }
    EXPECT_FALSE(next_event(kQuietTime).has_value());
    EXPECT_EQ(statuses(requester_->sent(depth)), std::vector(depth, IBV_WC_SUCCESS));
  }
}

}  // namespace
}  // namespace rocelane::contract
