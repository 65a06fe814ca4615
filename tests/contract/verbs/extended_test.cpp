// The newer ways of posting (ibv_wr_…) and of polling (ibv_start_poll).

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Extended : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PairTest::SetUp());
    completions_.reset(ibv_create_cq(context(), 64, nullptr, nullptr, 0));
    ASSERT_NE(completions_, nullptr);
    ibv_qp_init_attr_ex creation{};
    creation.send_cq = completions_.get();
    creation.recv_cq = completions_.get();
    creation.qp_type = IBV_QPT_RC;
    creation.cap = {8, 8, 3, 3, 64};
    creation.pd = domain();
    creation.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    creation.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                              IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                              IBV_QP_EX_WITH_RDMA_READ;
    queue_pair_.reset(ibv_create_qp_ex(context(), &creation));
    ASSERT_NE(queue_pair_, nullptr) << std::strerror(errno);
    extended_ = ibv_qp_to_qp_ex(queue_pair_.get());
    ASSERT_NE(extended_, nullptr);
    responder_ = make_endpoint();
    connect_extended();
  }

  void connect_extended() {
    const uint32_t sequence = 4711;
    ibv_qp_attr attributes = init_attributes(port(), IBV_ACCESS_REMOTE_WRITE);
    ASSERT_EQ(ibv_modify_qp(queue_pair_.get(), &attributes, kInitMask), 0);
    attributes = ready_to_receive_attributes(port(), responder_->address(), {});
    ASSERT_EQ(ibv_modify_qp(queue_pair_.get(), &attributes, kReadyToReceiveMask), 0);
    attributes = ready_to_send_attributes(sequence, {});
    ASSERT_EQ(ibv_modify_qp(queue_pair_.get(), &attributes, kReadyToSendMask), 0);
    ASSERT_EQ(responder_->connect({port().gid, queue_pair_->qp_num, sequence}), 0);
  }

  void set_piece(const ibv_sge& piece) {
    ibv_wr_set_sge(extended_, piece.lkey, piece.addr, piece.length);
  }

  CompletionQueue completions_;
  QueuePair queue_pair_;
  ibv_qp_ex* extended_ = nullptr;
};

TEST_F(Extended, OneBatchCarriesEveryKindOfRequest) {
  Memory back(domain(), 8192);
  ASSERT_EQ(responder_->receive_nothing(1), 0);
  ASSERT_EQ(responder_->receive(2, target_->piece(30'000, 4096)), 0);
  ASSERT_EQ(responder_->receive(3, target_->piece(40'000, 4096)), 0);
  const RemoteMemory remote = target_->remote(11);

  ibv_wr_start(extended_);
  extended_->wr_flags = 0;
  extended_->wr_id = 10;
  ibv_wr_rdma_write(extended_, remote.rkey, remote.address);
  set_piece(source_->piece(0, 3000));
  extended_->wr_flags = IBV_SEND_SIGNALED;
  extended_->wr_id = 11;
  ibv_wr_rdma_write_imm(extended_, remote.rkey, remote.address + 5000, htonl(99));
  set_piece(source_->piece(5000, 3001));
  extended_->wr_id = 12;
  ibv_wr_send(extended_);
  set_piece(source_->piece(20'000, 2000));
  extended_->wr_id = 13;
  ibv_wr_send_imm(extended_, htonl(98));
  set_piece(source_->piece(21'000, 2001));
  extended_->wr_id = 14;
  ibv_wr_rdma_read(extended_, remote.rkey, remote.address);
  set_piece(back.piece(0, 3000));
  ASSERT_EQ(ibv_wr_complete(extended_), 0);

  const auto sent = wait_for(completions_.get(), 4);
  EXPECT_EQ(ids(sent), (std::vector<uint64_t>{11, 12, 13, 14}));
  EXPECT_EQ(statuses(sent), std::vector(4, IBV_WC_SUCCESS));
  const auto received = responder_->received(3);
  ASSERT_EQ(ids(received), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(ntohl(received[0].imm_data), 99U);
  EXPECT_EQ(received[0].byte_len, 3001U);
  EXPECT_EQ(received[1].byte_len, 2000U);
  EXPECT_EQ(ntohl(received[2].imm_data), 98U);
  EXPECT_EQ(std::memcmp(target_->data() + 11, source_->data(), 3000), 0);
  EXPECT_EQ(std::memcmp(target_->data() + 5011, source_->data() + 5000, 3001), 0);
  EXPECT_EQ(std::memcmp(target_->data() + 30'000, source_->data() + 20'000, 2000), 0);
  EXPECT_EQ(std::memcmp(target_->data() + 40'000, source_->data() + 21'000, 2001), 0);
  EXPECT_EQ(std::memcmp(back.data(), source_->data(), 3000), 0);
}

TEST_F(Extended, NothingIsPostedBeforeTheBatchIsComplete) {
  ibv_wr_start(extended_);
  extended_->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
  set_piece(source_->piece(0, 100));
  EXPECT_TRUE(collect_for(completions_.get(), kQuietTime).empty());
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
  ASSERT_EQ(ibv_wr_complete(extended_), 0);
  EXPECT_EQ(statuses(wait_for(completions_.get(), 1)), std::vector{IBV_WC_SUCCESS});
}

TEST_F(Extended, AnAbortedBatchNeverWas) {
  ibv_wr_start(extended_);
  extended_->wr_flags = IBV_SEND_SIGNALED;
  for (uint64_t i = 0; i < 8; ++i) {
    extended_->wr_id = i;
    ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
    set_piece(source_->piece(0, 100));
  }
  ibv_wr_abort(extended_);
  EXPECT_TRUE(collect_for(completions_.get(), kQuietTime).empty());
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);

  // All places are free.
  ibv_wr_start(extended_);
  for (uint64_t i = 0; i < 8; ++i) {
    extended_->wr_id = 100 + i;
    ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
    set_piece(source_->piece(0, 100));
  }
  ASSERT_EQ(ibv_wr_complete(extended_), 0);
  EXPECT_EQ(ids(wait_for(completions_.get(), 8)).front(), 100U);
}

TEST_F(Extended, ABatchThatDoesNotFitIsNotPostedAtAll) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr creation{};
  ASSERT_EQ(ibv_query_qp(queue_pair_.get(), &attributes, IBV_QP_CAP, &creation), 0);
  ibv_wr_start(extended_);
  extended_->wr_flags = IBV_SEND_SIGNALED;
  for (uint64_t i = 0; i < creation.cap.max_send_wr + 1; ++i) {
    extended_->wr_id = i;
    ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
    set_piece(source_->piece(0, 100));
  }
  EXPECT_NE(ibv_wr_complete(extended_), 0);
  EXPECT_TRUE(collect_for(completions_.get(), kQuietTime).empty());
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Extended, InlineDataIsTakenAtOnce) {
  std::vector<uint8_t> data(40, 0x11);
  ibv_wr_start(extended_);
  extended_->wr_id = 1;
  extended_->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
  ibv_wr_set_inline_data(extended_, data.data(), data.size());
  data.assign(data.size(), 0x22);
  std::vector<uint8_t> second(20, 0x33);
  ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote(100).address);
  const ibv_data_buf buffers[] = {{data.data(), 10}, {second.data(), 20}};
  ibv_wr_set_inline_data_list(extended_, 2, buffers);
  second.assign(second.size(), 0x44);
  ASSERT_EQ(ibv_wr_complete(extended_), 0);
  ASSERT_EQ(statuses(wait_for(completions_.get(), 2)), std::vector(2, IBV_WC_SUCCESS));
  EXPECT_EQ(target_->first_other(0x11, 0, 40), 40U);
  EXPECT_EQ(target_->data()[40], kUntouched);
  if (traits().extended_post_sums_pieces) {
    EXPECT_EQ(target_->first_other(0x22, 100, 110), 110U);
    EXPECT_EQ(target_->first_other(0x33, 110, 130), 130U);
  } else {
    EXPECT_EQ(target_->first_other(kUntouched, 100, 130), 130U) << "the message is empty";
  }
}

TEST_F(Extended, TooMuchInlineDataSpoilsTheBatch) {
  const std::vector<uint8_t> data(100'000);
  ibv_wr_start(extended_);
  extended_->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
  ibv_wr_set_inline_data(extended_, const_cast<uint8_t*>(data.data()), data.size());
  EXPECT_NE(ibv_wr_complete(extended_), 0);
  EXPECT_EQ(target_->first_other(kUntouched, 0, 1000), 1000U);
}

TEST_F(Extended, PiecesAreGathered) {
  // The length of such a message is the sum of its pieces, or a multiple of the first.
  const ibv_sge equal[] = {source_->piece(0, 500), source_->piece(5000, 500)};
  const ibv_sge different[] = {source_->piece(0, 500), source_->piece(5000, 700)};
  const auto& pieces = traits().extended_post_sums_pieces ? different : equal;
  const size_t second_bytes = pieces[1].length;
  ibv_wr_start(extended_);
  extended_->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(extended_, target_->remote().rkey, target_->remote().address);
  ibv_wr_set_sge_list(extended_, 2, pieces);
  ASSERT_EQ(ibv_wr_complete(extended_), 0);
  ASSERT_EQ(statuses(wait_for(completions_.get(), 1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), 500), 0);
  EXPECT_EQ(std::memcmp(target_->data() + 500, source_->data() + 5000, second_bytes), 0);
  EXPECT_EQ(target_->data()[500 + second_bytes], kUntouched);
}

TEST_F(Extended, OrdinaryPostingWorksBesideIt) {
  ibv_sge local = source_->piece(0, 100);
  ibv_send_wr request{};
  request.wr_id = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.sg_list = &local;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = target_->remote().address;
  request.wr.rdma.rkey = target_->remote().rkey;
  ibv_send_wr* refused = nullptr;
  ASSERT_EQ(ibv_post_send(queue_pair_.get(), &request, &refused), 0);
  EXPECT_EQ(ids(wait_for(completions_.get(), 1)), std::vector<uint64_t>{1});
}

// Polling.

class ExtendedPolling : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PairTest::SetUp());
    ibv_cq_init_attr_ex creation{};
    creation.cqe = 32;
    creation.cq_context = this;
    creation.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM;
    completions_ = ibv_create_cq_ex(context(), &creation);
    ASSERT_NE(completions_, nullptr) << std::strerror(errno);
    owner_.reset(ibv_cq_ex_to_cq(completions_));
    Shape shape;
    shape.completions = owner_.get();
    connect({}, shape);
  }

  void TearDown() override { responder_.reset(); }

  // Waits until there is something to poll; the caller ends the polling.
  void start() {
    ibv_poll_cq_attr attributes{};
    int error = ENOENT;
    const auto begin = std::chrono::steady_clock::now();
    while (error == ENOENT && std::chrono::steady_clock::now() - begin < kPatience) {
      error = ibv_start_poll(completions_, &attributes);
    }
    ASSERT_EQ(error, 0);
  }

  ibv_cq_ex* completions_ = nullptr;
  CompletionQueue owner_;
};

TEST_F(ExtendedPolling, HasAtLeastTheDepthAskedFor) {
  EXPECT_GE(owner_->cqe, 32);
  EXPECT_EQ(owner_->cq_context, this);
}

TEST_F(ExtendedPolling, AnEmptyQueueIsNotStarted) {
  ibv_poll_cq_attr attributes{};
  EXPECT_EQ(ibv_start_poll(completions_, &attributes), ENOENT);
}

TEST_F(ExtendedPolling, ReadsOneCompletionAfterTheOther) {
  ASSERT_EQ(responder_->receive(1, target_->piece(0, 4096)), 0);
  ASSERT_EQ(responder_->receive_nothing(2), 0);
  ASSERT_EQ(requester_->send(3, source_->piece(0, 2000)), 0);
  ASSERT_EQ(requester_->write_with_immediate(4, source_->piece(0, 3000), target_->remote(), 77), 0);
  ASSERT_EQ(requester_->sent(2).size(), 2U);  // so both receives are complete

  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(completions_->wr_id, 1U);
  EXPECT_EQ(completions_->status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_wc_read_opcode(completions_), IBV_WC_RECV);
  EXPECT_EQ(ibv_wc_read_byte_len(completions_), 2000U);
  EXPECT_EQ(ibv_wc_read_qp_num(completions_), responder_->number());
  EXPECT_EQ(ibv_wc_read_wc_flags(completions_) & IBV_WC_WITH_IMM, 0U);
  ASSERT_EQ(ibv_next_poll(completions_), 0);
  EXPECT_EQ(completions_->wr_id, 2U);
  EXPECT_EQ(ibv_wc_read_opcode(completions_), IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(ibv_wc_read_byte_len(completions_), 3000U);
  EXPECT_EQ(ntohl(ibv_wc_read_imm_data(completions_)), 77U);
  EXPECT_NE(ibv_wc_read_wc_flags(completions_) & IBV_WC_WITH_IMM, 0U);
  ibv_end_poll(completions_);

  ibv_poll_cq_attr attributes{};
  EXPECT_EQ(ibv_start_poll(completions_, &attributes), ENOENT) << "both were taken";
}

TEST_F(ExtendedPolling, TellsOfErrors) {
  ASSERT_EQ(responder_->receive_nothing(5), 0);
  ASSERT_EQ(responder_->to_error(), 0);
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(completions_->wr_id, 5U);
  EXPECT_EQ(completions_->status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_wc_read_qp_num(completions_), responder_->number());
  ibv_end_poll(completions_);
}

TEST_F(ExtendedPolling, OrdinaryPollingWorksBesideIt) {
  ASSERT_EQ(responder_->receive_nothing(6), 0);
  ASSERT_EQ(requester_->post(7, IBV_WR_SEND, {}), 0);
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{6});
}

}  // namespace
}  // namespace rocelane::contract
