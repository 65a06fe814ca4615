// The life of a queue pair: which steps there are, what each of them needs, and what may be done in
// which state.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

using std::chrono::steady_clock;

struct Step {
  ibv_qp_state from;
  ibv_qp_state to;
  bool operator==(const Step&) const = default;
};

// Linux's table for RC, which all its devices share. RESET to ERR is not in it.
const std::vector<Step> kSteps = {
    {IBV_QPS_RESET, IBV_QPS_RESET}, {IBV_QPS_RESET, IBV_QPS_INIT}, {IBV_QPS_INIT, IBV_QPS_RESET},
    {IBV_QPS_INIT, IBV_QPS_ERR},    {IBV_QPS_INIT, IBV_QPS_INIT},  {IBV_QPS_INIT, IBV_QPS_RTR},
    {IBV_QPS_RTR, IBV_QPS_RESET},   {IBV_QPS_RTR, IBV_QPS_ERR},    {IBV_QPS_RTR, IBV_QPS_RTS},
    {IBV_QPS_RTS, IBV_QPS_RESET},   {IBV_QPS_RTS, IBV_QPS_ERR},    {IBV_QPS_RTS, IBV_QPS_RTS},
    {IBV_QPS_RTS, IBV_QPS_SQD},     {IBV_QPS_SQD, IBV_QPS_RESET},  {IBV_QPS_SQD, IBV_QPS_ERR},
    {IBV_QPS_SQD, IBV_QPS_RTS},     {IBV_QPS_SQD, IBV_QPS_SQD},    {IBV_QPS_ERR, IBV_QPS_RESET},
    {IBV_QPS_ERR, IBV_QPS_ERR}};

const std::vector<ibv_qp_state> kStates = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
                                           IBV_QPS_RTS,   IBV_QPS_SQD,  IBV_QPS_ERR};

class StateMachine : public VerbsTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(VerbsTest::SetUp());
    endpoint_ = make_endpoint();
    other_ = make_endpoint();
    ASSERT_FALSE(HasFailure());
  }

  // Every attribute that the step into a state needs, whatever it starts from.
  ibv_qp_attr attributes_for(ibv_qp_state to) const {
    ibv_qp_attr attributes{};
    if (to == IBV_QPS_INIT) {
      attributes = init_attributes(port(), IBV_ACCESS_REMOTE_WRITE);
    } else if (to == IBV_QPS_RTR) {
      attributes = ready_to_receive_attributes(port(), other_->address(), {});
    } else if (to == IBV_QPS_RTS) {
      attributes = ready_to_send_attributes(17, {});
    }
    attributes.qp_state = to;
    return attributes;
  }

  static int mask_for(const Step& step) {
    if (step == Step{IBV_QPS_RESET, IBV_QPS_INIT}) {
      return kInitMask;
    }
    if (step == Step{IBV_QPS_INIT, IBV_QPS_RTR}) {
      return kReadyToReceiveMask;
    }
    if (step == Step{IBV_QPS_RTR, IBV_QPS_RTS}) {
      return kReadyToSendMask;
    }
    return IBV_QP_STATE;
  }

  int take(const Step& step) {
    ibv_qp_attr attributes = attributes_for(step.to);
    return ibv_modify_qp(endpoint_->queue_pair(), &attributes, mask_for(step));
  }

  // From anywhere to `state`, the shortest way.
  void bring_to(ibv_qp_state state) {
    ASSERT_EQ(endpoint_->to_reset(), 0);
    std::vector<ibv_qp_state> way = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD};
    if (state == IBV_QPS_ERR) {
      way = {IBV_QPS_INIT, IBV_QPS_ERR};
    }
    ibv_qp_state now = IBV_QPS_RESET;
    for (auto next = way.begin(); now != state && next != way.end(); ++next) {
      ASSERT_EQ(take({now, *next}), 0) << now << " to " << *next;
      now = *next;
    }
    if (state == IBV_QPS_SQD) {
      wait_until_drained();
    }
  }

  void wait_until_drained() {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr creation{};
    const auto start = steady_clock::now();
    do {
      ASSERT_EQ(ibv_query_qp(endpoint_->queue_pair(), &attributes, IBV_QP_STATE, &creation), 0);
    } while (attributes.sq_draining != 0 && steady_clock::now() - start < kPatience);
    EXPECT_EQ(attributes.sq_draining, 0);
  }

  // Tries a step with one attribute changed and says which error that gives.
  template <class Change>
  int refusal(const Step& step, int extra_mask, Change change) {
    ibv_qp_attr attributes = attributes_for(step.to);
    change(attributes);
    return ibv_modify_qp(endpoint_->queue_pair(), &attributes, mask_for(step) | extra_mask);
  }

  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Endpoint> other_;
};

TEST_F(StateMachine, HasTheStepsOfTheTableAndNoOthers) {
  for (const ibv_qp_state from : kStates) {
    for (const ibv_qp_state to : kStates) {
      const Step step{from, to};
      const bool legal = std::find(kSteps.begin(), kSteps.end(), step) != kSteps.end();
      ASSERT_NO_FATAL_FAILURE(bring_to(from));
      EXPECT_EQ(take(step), legal ? 0 : EINVAL) << from << " to " << to;
      EXPECT_EQ(state_of(endpoint_->queue_pair()), legal ? to : from) << from << " to " << to;
      EXPECT_EQ(endpoint_->queue_pair()->state, legal ? to : from) << from << " to " << to;
    }
  }
}

TEST_F(StateMachine, EveryStepNeedsAllItsAttributes) {
  for (const Step& step : {Step{IBV_QPS_RESET, IBV_QPS_INIT}, Step{IBV_QPS_INIT, IBV_QPS_RTR},
                           Step{IBV_QPS_RTR, IBV_QPS_RTS}}) {
    ASSERT_NO_FATAL_FAILURE(bring_to(step.from));
    const int required = mask_for(step) & ~IBV_QP_STATE;
    for (int bit = 1; bit <= required; bit <<= 1) {
      if ((required & bit) == 0) {
        continue;
      }
      ibv_qp_attr attributes = attributes_for(step.to);
      EXPECT_EQ(ibv_modify_qp(endpoint_->queue_pair(), &attributes, mask_for(step) & ~bit), EINVAL)
          << step.from << " to " << step.to << " without attribute " << bit;
      EXPECT_EQ(state_of(endpoint_->queue_pair()), step.from);
    }
    EXPECT_EQ(take(step), 0) << "the failed attempts left something behind";
  }
}

TEST_F(StateMachine, NoStepTakesAttributesOfAnother) {
  struct Superfluous {
    Step step;
    int attribute;
  };
  for (const auto& [step, attribute] :
       {Superfluous{{IBV_QPS_RESET, IBV_QPS_INIT}, IBV_QP_TIMEOUT},
        Superfluous{{IBV_QPS_RESET, IBV_QPS_INIT}, IBV_QP_DEST_QPN},
        Superfluous{{IBV_QPS_RESET, IBV_QPS_INIT}, IBV_QP_QKEY},
        Superfluous{{IBV_QPS_INIT, IBV_QPS_RTR}, IBV_QP_SQ_PSN},
        Superfluous{{IBV_QPS_INIT, IBV_QPS_RTR}, IBV_QP_TIMEOUT},
        Superfluous{{IBV_QPS_INIT, IBV_QPS_RTR}, IBV_QP_PORT},
        Superfluous{{IBV_QPS_RTR, IBV_QPS_RTS}, IBV_QP_PATH_MTU},
        Superfluous{{IBV_QPS_RTR, IBV_QPS_RTS}, IBV_QP_AV},
        Superfluous{{IBV_QPS_RTR, IBV_QPS_RTS}, IBV_QP_DEST_QPN},
        Superfluous{{IBV_QPS_RTS, IBV_QPS_RTS}, IBV_QP_SQ_PSN},
        Superfluous{{IBV_QPS_RTS, IBV_QPS_ERR}, IBV_QP_ACCESS_FLAGS},
        Superfluous{{IBV_QPS_RTS, IBV_QPS_RESET}, IBV_QP_PORT}}) {
    ASSERT_NO_FATAL_FAILURE(bring_to(step.from));
    const ibv_qp_attr all = [&] {
      ibv_qp_attr attributes = ready_to_receive_attributes(port(), other_->address(), {});
      attributes.port_num = port().number;
      return attributes;
    }();
    EXPECT_EQ(refusal(step, attribute,
                      [&](ibv_qp_attr& attributes) {
                        const ibv_qp_attr wanted = attributes;
                        attributes = all;
                        attributes.qp_state = wanted.qp_state;
                        attributes.qp_access_flags = wanted.qp_access_flags;
                      }),
              EINVAL)
        << step.from << " to " << step.to << " with attribute " << attribute;
    EXPECT_EQ(state_of(endpoint_->queue_pair()), step.from);
  }
}

TEST_F(StateMachine, ValuesOutOfRangeAreRefused) {
  ibv_port_attr port_attributes{};
  ASSERT_EQ(ibv_query_port(context(), port().number, &port_attributes), 0);
  const int reads = device_limits().max_qp_rd_atom;

  ASSERT_NO_FATAL_FAILURE(bring_to(IBV_QPS_RESET));
  const Step init{IBV_QPS_RESET, IBV_QPS_INIT};
  EXPECT_EQ(refusal(init, 0, [](auto& attributes) { attributes.port_num = 0; }), EINVAL);
  EXPECT_EQ(refusal(init, 0, [](auto& attributes) { attributes.port_num = 2; }), EINVAL);

  ASSERT_NO_FATAL_FAILURE(bring_to(IBV_QPS_INIT));
  const Step receive{IBV_QPS_INIT, IBV_QPS_RTR};
  EXPECT_EQ(refusal(receive, 0,
                    [&](auto& attributes) {
                      attributes.path_mtu = static_cast<ibv_mtu>(port_attributes.max_mtu + 1);
                    }),
            EINVAL);
  EXPECT_EQ(refusal(receive, 0,
                    [&](auto& attributes) {
                      // The last entry is empty.
                      attributes.ah_attr.grh.sgid_index =
                          static_cast<uint8_t>(std::min(port_attributes.gid_tbl_len, 256) - 1);
                    }),
            ENODATA);
  EXPECT_EQ(refusal(receive, 0, [](auto& attributes) { attributes.ah_attr.is_global = 0; }), EINVAL)
      << "RoCE needs a global route";
  EXPECT_EQ(refusal(receive, 0, [](auto& attributes) { attributes.ah_attr.port_num = 2; }), EINVAL);

  ASSERT_NO_FATAL_FAILURE(bring_to(IBV_QPS_RTR));
  const Step send{IBV_QPS_RTR, IBV_QPS_RTS};
  EXPECT_EQ(refusal(send, 0, [](auto& attributes) { attributes.timeout = 32; }), EINVAL);
  if (reads < 255) {
    EXPECT_EQ(refusal(send, 0,
                      [&](auto& attributes) {
                        attributes.max_rd_atomic = static_cast<uint8_t>(reads + 1);
                      }),
              EINVAL);
  }
  EXPECT_EQ(take(send), 0) << "the failed attempts left something behind";
}

TEST_F(StateMachine, QueryReportsWhatWasSet) {
  const Timing timing{15, 5, 6, 14};
  ASSERT_EQ(endpoint_->connect(other_->address(), timing), 0);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr creation{};
  const int mask = kInitMask | kReadyToReceiveMask | kReadyToSendMask | IBV_QP_CAP;
  ASSERT_EQ(ibv_query_qp(endpoint_->queue_pair(), &attributes, mask, &creation), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attributes.port_num, port().number);
  EXPECT_EQ(attributes.pkey_index, 0);
  EXPECT_EQ(attributes.qp_access_flags,
            static_cast<unsigned>(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
  EXPECT_EQ(attributes.path_mtu, port().mtu);
  EXPECT_EQ(attributes.dest_qp_num, other_->number());
  EXPECT_EQ(attributes.rq_psn, other_->address().packet_sequence);
  EXPECT_EQ(attributes.sq_psn, endpoint_->address().packet_sequence);
  EXPECT_EQ(attributes.max_dest_rd_atomic, kReadsInFlight);
  EXPECT_EQ(attributes.max_rd_atomic, kReadsInFlight);
  EXPECT_EQ(attributes.min_rnr_timer, timing.receiver_not_ready_timer);
  EXPECT_EQ(attributes.timeout, timing.timeout);
  EXPECT_EQ(attributes.retry_cnt, timing.retries);
  EXPECT_EQ(attributes.rnr_retry, timing.receiver_not_ready_retries);
  EXPECT_EQ(attributes.ah_attr.is_global, 1);
  EXPECT_EQ(attributes.ah_attr.grh.traffic_class, 104);
  EXPECT_EQ(attributes.ah_attr.grh.flow_label, 0x12345U);
  EXPECT_EQ(attributes.ah_attr.grh.sgid_index, port().gid_index);
  EXPECT_EQ(attributes.ah_attr.grh.hop_limit, 64);
  EXPECT_GE(attributes.cap.max_send_wr, Shape{}.send_depth);
  EXPECT_GE(attributes.cap.max_recv_wr, Shape{}.receive_depth);
  EXPECT_GE(attributes.cap.max_inline_data, Shape{}.inline_bytes);
  EXPECT_EQ(creation.qp_type, IBV_QPT_RC);
  EXPECT_EQ(creation.send_cq, endpoint_->send_completions());
  EXPECT_EQ(creation.recv_cq, endpoint_->receive_completions());
  EXPECT_EQ(creation.sq_sig_all, 0);
  EXPECT_GE(creation.cap.max_send_sge, Shape{}.pieces);
}

// What may be done in which state.

class States : public PairTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PairTest::SetUp());
    requester_ = make_endpoint();
    responder_ = make_endpoint();
  }

  int finish_connecting(Endpoint& endpoint, const Endpoint& peer) {
    const int error = endpoint.to_ready_to_receive(peer.address());
    return error != 0 ? error : endpoint.to_ready_to_send();
  }

  void expect_written(size_t bytes) {
    EXPECT_EQ(target_->first_other(kUntouched, bytes, bytes + 64), bytes + 64);
    EXPECT_EQ(std::memcmp(target_->data(), source_->data(), bytes), 0);
  }
};

TEST_F(States, SendsAreRefusedBeforeReadyToSend) {
  ASSERT_EQ(requester_->to_init(), 0);
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
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
  EXPECT_EQ(ibv_post_send(requester_->queue_pair(), &request, &refused), EINVAL);
  EXPECT_EQ(refused, traits().refused_post_names_request ? &request : nullptr);

  ASSERT_EQ(finish_connecting(*requester_, *responder_), 0);
  if (traits().refused_send_is_forgotten) {
    EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
    EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
  }
  ASSERT_EQ(requester_->write(2, source_->piece(0, 200), target_->remote()), 0);
  const std::vector<uint64_t> expected =
      traits().refused_send_is_forgotten ? std::vector<uint64_t>{2} : std::vector<uint64_t>{1, 2};
  EXPECT_EQ(ids(requester_->sent(expected.size())), expected);
  expect_written(200);
}

TEST_F(States, SendsAreRefusedInReset) {
  EXPECT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), EINVAL);
}

TEST_F(States, ReceivesAreRefusedInReset) {
  ibv_recv_wr request{};
  request.wr_id = 1;
  ibv_recv_wr* refused = nullptr;
  EXPECT_EQ(ibv_post_recv(responder_->queue_pair(), &request, &refused), EINVAL);
  EXPECT_EQ(refused, traits().refused_post_names_request ? &request : nullptr);
}

TEST_F(States, ReceivesPostedInInitAreUsedLater) {
  ASSERT_EQ(responder_->to_init(), 0);
  ASSERT_EQ(responder_->receive(7, target_->piece(0, 4096)), 0);
  ASSERT_EQ(finish_connecting(*responder_, *requester_), 0);
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 500)), 0);
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{7});
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{1});
  expect_written(500);
}

TEST_F(States, AResponderWorksInReadyToReceive) {
  ASSERT_EQ(responder_->to_init(), 0);
  ASSERT_EQ(responder_->to_ready_to_receive(requester_->address()), 0);
  ASSERT_EQ(responder_->receive_nothing(9), 0);
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(requester_->write_with_immediate(1, source_->piece(0, 3000), target_->remote(), 5), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_SUCCESS});
  expect_written(3000);
  EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_RTR);
}

TEST_F(States, ErrorAndResetMakeAQueuePairAsNew) {
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  ASSERT_EQ(responder_->receive_nothing(1), 0);
  ASSERT_EQ(requester_->write(2, source_->piece(0, 64), target_->remote()), 0);
  ASSERT_EQ(requester_->sent(1).size(), 1U);
  ASSERT_EQ(requester_->to_error(), 0);
  ASSERT_EQ(responder_->to_error(), 0);
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_WR_FLUSH_ERR});

  for (Endpoint* endpoint : {requester_.get(), responder_.get()}) {
    ASSERT_EQ(endpoint->to_reset(), 0);
    EXPECT_EQ(state_of(endpoint->queue_pair()), IBV_QPS_RESET);
  }
  const uint32_t number = responder_->number();
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  EXPECT_EQ(responder_->number(), number);
  ASSERT_EQ(responder_->receive_nothing(3), 0);
  ASSERT_EQ(requester_->write_with_immediate(4, source_->piece(0, 3000), target_->remote(), 5), 0);
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{4});
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{3});
  expect_written(3000);
}

TEST_F(States, ResetForgetsWhatWasPosted) {
  ASSERT_EQ(responder_->to_init(), 0);
  ASSERT_EQ(responder_->receive_nothing(1), 0);
  ASSERT_EQ(responder_->to_reset(), 0);
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  ASSERT_EQ(responder_->receive_nothing(2), 0);
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(requester_->write_with_immediate(3, source_->piece(0, 8), target_->remote(), 5), 0);
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{2});
}

TEST_F(States, RightsCanBeTakenAwayWhileRunning) {
  ASSERT_EQ(requester_->connect(responder_->address()), 0);
  ASSERT_EQ(responder_->connect(requester_->address()), 0);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 64), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});

  ibv_qp_attr attributes{};
  attributes.qp_access_flags = 0;
  ASSERT_EQ(ibv_modify_qp(responder_->queue_pair(), &attributes, IBV_QP_ACCESS_FLAGS), 0);
  ASSERT_EQ(requester_->write(2, source_->piece(0, 128), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{traits().operation_not_allowed});
  expect_written(64);
}

}  // namespace
}  // namespace rocelane::contract
