// Receivers that are not ready, peers that do not answer, and how long that is borne.

#include <cstring>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Times in which failure comes soon: a timeout of 8.4 ms, two retries.
constexpr Timing kImpatient{11, 2, 7, 12};

class Retry : public PairTest {
 protected:
  // The requester is connected to the responder, which is wherever the test left it.
  void expect_no_answer(const Timing& timing = kImpatient) {
    requester_ = make_endpoint();
    ASSERT_EQ(requester_->connect(responder_->address(), timing), 0);
    ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
    ASSERT_EQ(requester_->write(2, source_->piece(0, 100), target_->remote(), kUnsignaled), 0);
    const auto sent = requester_->sent(2);
    EXPECT_EQ(ids(sent), (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(statuses(sent), (std::vector{IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
    EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_ERR);
    EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
  }

  // With patience for silence, so that only the answer "not ready" can end a request.
  void connect_with_receive_retries(uint8_t receiver_not_ready_retries,
                                    uint8_t receiver_not_ready_timer = 12) {
    connect({}, {}, {14, 6, receiver_not_ready_retries, receiver_not_ready_timer});
  }
};

// Receiver not ready.

TEST_F(Retry, ASendWaitsForItsReceive) {
  ASSERT_EQ(requester_->send(1, source_->piece(0, 3000)), 0);
  ASSERT_EQ(requester_->write(2, source_->piece(0, 10), target_->remote(100'000)), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  EXPECT_EQ(target_->first_other(kUntouched, 100'000, 100'010), 100'010U)
      << "a later request has overtaken it";
  ASSERT_EQ(responder_->receive(3, target_->piece(0, 4096)), 0);
  EXPECT_EQ(ids(requester_->sent(2)), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{3});
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), 3000), 0);
}

TEST_F(Retry, AnImmediateWaitsForItsReceive) {
  ASSERT_EQ(requester_->write_with_immediate(1, source_->piece(0, 5000), target_->remote(), 6), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  EXPECT_TRUE(collect_for(responder_->receive_completions(), milliseconds(1)).empty());
  ASSERT_EQ(responder_->receive_nothing(3), 0);
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), 5000), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
}

TEST_F(Retry, WritesNeedNoReceive) {
  connect_with_receive_retries(0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 5000), target_->remote()), 0);
  ASSERT_EQ(requester_->read(2, source_->piece(0, 5000), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(2)), std::vector(2, IBV_WC_SUCCESS));
}

TEST_F(Retry, WithoutRetriesAMissingReceiveIsAnErrorAtOnce) {
  connect_with_receive_retries(0);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  ASSERT_EQ(requester_->write(2, source_->piece(0, 100), target_->remote()), 0);
  const auto sent = requester_->sent(2);
  EXPECT_EQ(ids(sent), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(statuses(sent), (std::vector{IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_ERR);
  EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_RTS) << "the responder did nothing wrong";
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Retry, AMissingReceiveIsAnErrorAfterItsRetries) {
  connect_with_receive_retries(3);
  const auto start = steady_clock::now();
  ASSERT_EQ(requester_->write_with_immediate(1, source_->piece(0, 100), target_->remote(), 6), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RNR_RETRY_EXC_ERR});
  EXPECT_GE(steady_clock::now() - start, std::chrono::microseconds(3 * 640));
  EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_RTS);
}

TEST_F(Retry, AReceiveDuringTheRetriesIsInTime) {
  connect_with_receive_retries(6, 25);  // 61 ms each
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), milliseconds(20)).empty());
  ASSERT_EQ(responder_->receive(2, target_->piece(0, 100)), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_SUCCESS});
}

TEST_F(Retry, AReceiverMayBeLateByMoreThanAllTimeouts) {
  connect({}, {}, kImpatient);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  const auto sent = collect_for(requester_->send_completions(), milliseconds(3 * 4 * 9 + 100));
  if (traits().not_ready_is_an_answer) {
    EXPECT_TRUE(sent.empty());
    ASSERT_EQ(responder_->receive(2, target_->piece(0, 100)), 0);
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  } else {
    EXPECT_EQ(statuses(sent), std::vector{IBV_WC_RETRY_EXC_ERR});
  }
}

// No answer.

TEST_F(Retry, APeerInResetDoesNotAnswer) {
  responder_ = make_endpoint();
  expect_no_answer();
}

TEST_F(Retry, APeerInInitDoesNotAnswer) {
  responder_ = make_endpoint();
  ASSERT_EQ(responder_->to_init(), 0);
  expect_no_answer();
}

TEST_F(Retry, APeerInErrorDoesNotAnswer) {
  ASSERT_EQ(responder_->to_error(), 0);
  expect_no_answer();
}

TEST_F(Retry, APeerThatIsGoneDoesNotAnswer) {
  const Address address = responder_->address();
  responder_->destroy_queue_pair();
  requester_ = make_endpoint();
  ASSERT_EQ(requester_->connect(address, kImpatient), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(Retry, AQueuePairNumberNobodyHasDoesNotAnswer) {
  Address nobody = responder_->address();
  nobody.queue_pair = 0xABCDEF;
  requester_ = make_endpoint();
  ASSERT_EQ(requester_->connect(nobody, kImpatient), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(Retry, SilenceLastsAsLongAsTheRetriesDo) {
  // Three times at least 67 ms, and at most four times that, which the specification leaves to the
  // device.
  responder_ = make_endpoint();
  const auto start = steady_clock::now();
  ASSERT_NO_FATAL_FAILURE(expect_no_answer({14, 2, 7, 12}));
  const auto time = steady_clock::now() - start;
  EXPECT_GE(time, milliseconds(3 * 67));
  EXPECT_LE(time, milliseconds(4 * 3 * 67 + 1000));
}

TEST_F(Retry, SevenRetriesEnd) {
  responder_ = make_endpoint();
  requester_ = make_endpoint();
  ASSERT_EQ(requester_->connect(responder_->address(), {11, 7, 7, 12}), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  if (traits().seven_retries_end) {
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RETRY_EXC_ERR});
  } else {
    const milliseconds all_retries_and_more(8 * 4 * 9 + 200);
    EXPECT_TRUE(collect_for(requester_->send_completions(), all_retries_and_more).empty());
    EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_RTS);
  }
}

TEST_F(Retry, ATimeoutOfZeroWaitsForEver) {
  responder_ = make_endpoint();
  requester_ = make_endpoint();
  ASSERT_EQ(requester_->connect(responder_->address(), {0, 1, 7, 12}), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), milliseconds(200)).empty());
  EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_RTS);
}

TEST_F(Retry, APeerThatComesBackInTimeIsNotMissed) {
  responder_ = make_endpoint();
  requester_ = make_endpoint();
  ASSERT_EQ(requester_->connect(responder_->address(), {14, 6, 7, 12}), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 5000), target_->remote()), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), milliseconds(50)).empty());
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(target_->data(), source_->data(), 5000), 0);
}

TEST_F(Retry, PacketsFromTheFutureAreNotAccepted) {
  // The responder expects packets that were never sent.
  responder_ = make_endpoint();
  requester_ = make_endpoint();
  Address wrong = requester_->address();
  wrong.packet_sequence = (wrong.packet_sequence - 1000) & 0xFFFFFF;
  ASSERT_EQ(responder_->connect(wrong, kImpatient), 0);
  ASSERT_EQ(requester_->connect(responder_->address(), kImpatient), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RETRY_EXC_ERR});
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Retry, PacketSequencesWrapAround) {
  responder_ = make_endpoint();
  requester_ = make_endpoint();
  Address requester = requester_->address();
  requester.packet_sequence = 0xFFFFFE;
  ASSERT_EQ(responder_->connect(requester), 0);
  ASSERT_EQ(requester_->to_init(), 0);
  ASSERT_EQ(requester_->to_ready_to_receive(responder_->address()), 0);
  ibv_qp_attr attributes = ready_to_send_attributes(requester.packet_sequence, {});
  ASSERT_EQ(ibv_modify_qp(requester_->queue_pair(), &attributes, kReadyToSendMask), 0);
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(i, 9000), target_->remote()), 0);
    ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
    EXPECT_EQ(std::memcmp(target_->data(), source_->data() + i, 9000), 0);
  }
}

}  // namespace
}  // namespace rocelane::contract
