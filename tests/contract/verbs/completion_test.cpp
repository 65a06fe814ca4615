// What completions say, when they come, and who is woken.

#include <cerrno>

#include <poll.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Completions : public PairTest {};

TEST_F(Completions, SayWhichRequestOfWhichQueuePairSucceeded) {
  constexpr uint64_t kLargeId = 0xFEDCBA9876543210;
  ASSERT_EQ(responder_->receive(kLargeId, target_->piece(0, 100)), 0);
  ASSERT_EQ(responder_->receive_nothing(kLargeId + 1), 0);
  ASSERT_EQ(requester_->send(kLargeId + 2, source_->piece(0, 100)), 0);
  ASSERT_EQ(
      requester_->write_with_immediate(kLargeId + 3, source_->piece(0, 9), target_->remote(), 1),
      0);
  ASSERT_EQ(requester_->write(kLargeId + 4, source_->piece(0, 9), target_->remote()), 0);
  ASSERT_EQ(requester_->read(kLargeId + 5, source_->piece(0, 9), target_->remote()), 0);

  const auto sent = requester_->sent(4);
  ASSERT_EQ(sent.size(), 4U);
  const ibv_wc_opcode opcodes[] = {IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_WRITE,
                                   IBV_WC_RDMA_READ};
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].wr_id, kLargeId + 2 + i);
    EXPECT_EQ(sent[i].status, IBV_WC_SUCCESS);
    EXPECT_EQ(sent[i].opcode, opcodes[i]);
    EXPECT_EQ(sent[i].qp_num, requester_->number());
    EXPECT_EQ(sent[i].opcode & IBV_WC_RECV, 0);
  }
  const auto received = responder_->received(2);
  ASSERT_EQ(received.size(), 2U);
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].wr_id, kLargeId + i);
    EXPECT_EQ(received[i].qp_num, responder_->number());
    EXPECT_NE(received[i].opcode & IBV_WC_RECV, 0);
  }
}

TEST_F(Completions, ReadsSayHowMuchWasRead) {
  ASSERT_EQ(requester_->read(1, source_->piece(0, 5003), target_->remote()), 0);
  const auto sent = requester_->sent(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].byte_len, 5003U);
}

TEST_F(Completions, UnsignaledRequestsHaveNone) {
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 3000), target_->remote(), kUnsignaled), 0);
  }
  ASSERT_EQ(requester_->write(5, source_->piece(0, 3000), target_->remote(), IBV_SEND_SIGNALED), 0);
  ASSERT_EQ(requester_->write(6, source_->piece(0, 3000), target_->remote(), kUnsignaled), 0);
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{5});
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
}

TEST_F(Completions, UnsignaledRequestsOfASignalingQueuePairHaveThem) {
  Shape shape;
  shape.all_signaled = true;
  connect(shape);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 100), target_->remote(), kUnsignaled), 0);
  }
  EXPECT_EQ(ids(requester_->sent(3)), (std::vector<uint64_t>{0, 1, 2}));
}

TEST_F(Completions, BothQueuesMayShareOneCompletionQueue) {
  const CompletionQueue shared(ibv_create_cq(context(), 64, nullptr, nullptr, 0));
  Shape shape;
  shape.completions = shared.get();
  requester_.reset();
  responder_.reset();
  connect(shape, shape);
  ASSERT_EQ(responder_->receive(1, target_->piece(0, 100)), 0);
  ASSERT_EQ(requester_->receive(2, target_->piece(1000, 100)), 0);
  ASSERT_EQ(requester_->send(3, source_->piece(0, 100)), 0);
  ASSERT_EQ(responder_->send(4, source_->piece(0, 100)), 0);
  const auto all = wait_for(shared.get(), 4);
  EXPECT_THAT(ids(all), testing::UnorderedElementsAre(1U, 2U, 3U, 4U));
  for (const ibv_wc& completion : all) {
    const bool of_requester = completion.wr_id == 2 || completion.wr_id == 3;
    EXPECT_EQ(completion.qp_num, of_requester ? requester_->number() : responder_->number());
  }
  requester_.reset();
  responder_.reset();
}

TEST_F(Completions, APollTakesNoMoreThanAskedFor) {
  for (uint64_t i = 0; i < 6; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(0, 100), target_->remote()), 0);
  }
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{0});
  ibv_wc completions[8];
  EXPECT_EQ(ibv_poll_cq(requester_->send_completions(), 0, completions), 0);
  std::vector<uint64_t> rest;
  const auto start = std::chrono::steady_clock::now();
  while (rest.size() < 5 && std::chrono::steady_clock::now() - start < kPatience) {
    const int polled = ibv_poll_cq(requester_->send_completions(), 2, completions);
    ASSERT_GE(polled, 0);
    ASSERT_LE(polled, 2);
    for (int i = 0; i < polled; ++i) {
      rest.push_back(completions[i].wr_id);
    }
  }
  EXPECT_EQ(rest, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(ibv_poll_cq(requester_->send_completions(), 8, completions), 0);
}

// Being woken.

class Channels : public VerbsTest {
 protected:
  static bool is_readable(const ibv_comp_channel& channel, std::chrono::milliseconds patience) {
    pollfd waiting{channel.fd, POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(patience.count())) == 1;
  }
};

TEST_F(Channels, TellOnceOfTheNextCompletionWhenAsked) {
  const CompletionChannel channel(ibv_create_comp_channel(context()));
  ASSERT_NE(channel, nullptr);
  const CompletionQueue queue(ibv_create_cq(context(), 64, this, channel.get(), 0));
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(queue->channel, channel.get());
  Shape shape;
  shape.completions = queue.get();
  const auto requester = make_endpoint(shape);
  const auto responder = make_endpoint();
  ASSERT_EQ(requester->connect(responder->address()), 0);
  ASSERT_EQ(responder->connect(requester->address()), 0);

  ASSERT_EQ(requester->post(1, IBV_WR_RDMA_WRITE, {}), 0);
  EXPECT_EQ(wait_for(queue.get(), 1).size(), 1U);
  EXPECT_FALSE(is_readable(*channel, kQuietTime)) << "nobody asked";

  ASSERT_EQ(ibv_req_notify_cq(queue.get(), 0), 0);
  EXPECT_FALSE(is_readable(*channel, std::chrono::milliseconds(0)));
  ASSERT_EQ(requester->post(2, IBV_WR_RDMA_WRITE, {}), 0);
  ASSERT_TRUE(is_readable(*channel, kEventTime));
  ibv_cq* told = nullptr;
  void* told_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel.get(), &told, &told_context), 0);
  EXPECT_EQ(told, queue.get());
  EXPECT_EQ(told_context, this);
  ibv_ack_cq_events(queue.get(), 1);

  ASSERT_EQ(requester->post(3, IBV_WR_RDMA_WRITE, {}), 0);
  EXPECT_EQ(ids(wait_for(queue.get(), 2)), (std::vector<uint64_t>{2, 3}));
  EXPECT_FALSE(is_readable(*channel, kQuietTime)) << "asking once is for one event";
}

TEST_F(Channels, AreBusyWhileACompletionQueueUsesThem) {
  const CompletionChannel channel(ibv_create_comp_channel(context()));
  ASSERT_NE(channel, nullptr);
  const CompletionQueue queue(ibv_create_cq(context(), 4, nullptr, channel.get(), 0));
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(ibv_destroy_comp_channel(channel.get()), EBUSY);
}

}  // namespace
}  // namespace rocelane::contract
