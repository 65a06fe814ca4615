// Shared receive queues.

#include <cerrno>
#include <cstring>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class SharedReceives : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PairTest::SetUp());
    ibv_srq_init_attr creation{nullptr, {16, 2, 0}};
    shared_.reset(ibv_create_srq(domain(), &creation));
    ASSERT_NE(shared_, nullptr) << std::strerror(errno);
    Shape sharing;
    sharing.shared_receives = shared_.get();
    connect({}, sharing);
    other_requester_ = make_endpoint();
    other_responder_ = make_endpoint(sharing);
    ASSERT_EQ(other_requester_->connect(other_responder_->address()), 0);
    ASSERT_EQ(other_responder_->connect(other_requester_->address()), 0);
  }

  void TearDown() override {
    // They use the shared queue, which must outlive them.
    responder_.reset();
    other_responder_.reset();
  }

  int receive(uint64_t id, ibv_sge local) {
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &local;
    request.num_sge = 1;
    ibv_recv_wr* refused = nullptr;
    return ibv_post_srq_recv(shared_.get(), &request, &refused);
  }

  SharedReceiveQueue shared_;
  std::unique_ptr<Endpoint> other_requester_;
  std::unique_ptr<Endpoint> other_responder_;
};

TEST_F(SharedReceives, ServeWhoeverComesFirst) {
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(receive(i, target_->piece(i * 4096, 4096)), 0);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    const bool first = i % 2 == 0;
    const auto& sender = first ? requester_ : other_requester_;
    const auto& receiver = first ? responder_ : other_responder_;
    ASSERT_EQ(sender->send(100 + i, source_->piece(i * 10, 3000)), 0);
    const auto received = receiver->received(1);
    ASSERT_EQ(ids(received), std::vector<uint64_t>{i});
    EXPECT_EQ(received[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(received[0].byte_len, 3000U);
    EXPECT_EQ(received[0].qp_num, receiver->number());
    EXPECT_EQ(std::memcmp(target_->data() + i * 4096, source_->data() + i * 10, 3000), 0);
  }
}

TEST_F(SharedReceives, TakeImmediates) {
  ASSERT_EQ(receive(1, target_->piece(0, 0)), 0);
  ASSERT_EQ(requester_->write_with_immediate(2, source_->piece(0, 5000), target_->remote(77), 3),
            0);
  const auto received = responder_->received(1);
  ASSERT_EQ(ids(received), std::vector<uint64_t>{1});
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[0].byte_len, 5000U);
  EXPECT_EQ(std::memcmp(target_->data() + 77, source_->data(), 5000), 0);
}

TEST_F(SharedReceives, AreWaitedFor) {
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  ASSERT_EQ(receive(2, target_->piece(0, 100)), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{2});
}

TEST_F(SharedReceives, EndWithTheirDepth) {
  ibv_srq_attr attributes{};
  ASSERT_EQ(ibv_query_srq(shared_.get(), &attributes), 0);
  for (uint64_t i = 0; i < attributes.max_wr; ++i) {
    ASSERT_EQ(receive(i, target_->piece(0, 100)), 0) << i;
  }
  EXPECT_EQ(receive(1000, target_->piece(0, 100)), ENOMEM);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  ASSERT_EQ(responder_->received(1).size(), 1U);
  EXPECT_EQ(receive(1001, target_->piece(0, 100)), 0);
}

TEST_F(SharedReceives, AreNotPostedToAQueuePair) {
  EXPECT_EQ(responder_->receive_nothing(1), EINVAL);
}

TEST_F(SharedReceives, TellOnceWhenTheyRunLow) {
  for (uint64_t i = 0; i < 6; ++i) {
    ASSERT_EQ(receive(i, target_->piece(0, 100)), 0);
  }
  ibv_srq_attr attributes{};
  attributes.srq_limit = 4;
  ASSERT_EQ(ibv_modify_srq(shared_.get(), &attributes, IBV_SRQ_LIMIT), 0);
  ASSERT_EQ(ibv_query_srq(shared_.get(), &attributes), 0);
  EXPECT_EQ(attributes.srq_limit, 4U);

  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
    ASSERT_EQ(responder_->received(1).size(), 1U);
  }
  EXPECT_FALSE(next_event(kQuietTime).has_value()) << "four are left, which is not less than four";
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  const auto event = next_event(kEventTime);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event->element.srq, shared_.get());

  ASSERT_EQ(ibv_query_srq(shared_.get(), &attributes), 0);
  EXPECT_EQ(attributes.srq_limit, 0U) << "the limit is disarmed when it has told";
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  EXPECT_FALSE(next_event(kQuietTime).has_value());
}

TEST_F(SharedReceives, OutliveTheErrorOfAQueuePair) {
  ASSERT_EQ(receive(1, target_->piece(0, 100)), 0);
  ASSERT_EQ(responder_->to_error(), 0);
  EXPECT_TRUE(collect_for(responder_->receive_completions(), kQuietTime).empty())
      << "receives of a shared queue belong to nobody yet";
  const auto event = next_event(traits().has_last_receive_event ? kEventTime : kQuietTime);
  ASSERT_EQ(event.has_value(), traits().has_last_receive_event);
  if (event.has_value()) {
    EXPECT_EQ(event->event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(event->element.qp, responder_->queue_pair());
  }
  ASSERT_EQ(other_requester_->send(2, source_->piece(0, 100)), 0);
  EXPECT_EQ(ids(other_responder_->received(1)), std::vector<uint64_t>{1});
}

}  // namespace
}  // namespace rocelane::contract
