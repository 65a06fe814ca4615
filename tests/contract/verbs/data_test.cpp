// Every byte of every kind of message, and nothing beside it.

#include <cstring>

#include <arpa/inet.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

// Sizes around the packet size of the path (256 bytes to 4 KiB), and far above.
const std::vector<size_t> kSizes = {0,    1,    3,    64,   255,  256,  257,    1023,     1024,
                                    1025, 2047, 2049, 4095, 4096, 4097, 65'537, 1'000'003};

// Places that are no multiple of anything.
constexpr size_t kFrom = 4099;
constexpr size_t kTo = 8237;

class Data : public PairTest {
 protected:
  // `bytes` of the source, from kFrom on, are at kTo of the target, and nothing else was touched.
  void expect_copied(size_t bytes) const {
    expect_bytes(*source_, kFrom, *target_, kTo, bytes);
    EXPECT_EQ(target_->first_other(kUntouched, 0, kTo), kTo);
    EXPECT_EQ(target_->first_other(kUntouched, kTo + bytes, target_->size()), target_->size());
  }

  static void expect_bytes(const Memory& from, size_t from_offset, const Memory& to,
                           size_t to_offset, size_t bytes) {
    ASSERT_LE(from_offset + bytes, from.size());
    ASSERT_LE(to_offset + bytes, to.size());
    EXPECT_EQ(std::memcmp(from.data() + from_offset, to.data() + to_offset, bytes), 0)
        << bytes << " bytes";
  }

  void forget() { target_->fill_with(kUntouched); }
};

TEST_F(Data, WritesOfAllSizes) {
  for (const size_t bytes : kSizes) {
    forget();
    ASSERT_EQ(requester_->write(bytes, source_->piece(kFrom, bytes), target_->remote(kTo)), 0);
    const auto sent = requester_->sent(1);
    ASSERT_EQ(statuses(sent), std::vector{IBV_WC_SUCCESS}) << bytes;
    EXPECT_EQ(sent[0].opcode, IBV_WC_RDMA_WRITE);
    expect_copied(bytes);
  }
  EXPECT_TRUE(collect_for(responder_->receive_completions(), kQuietTime).empty());
}

TEST_F(Data, WritesWithImmediateOfAllSizes) {
  for (const size_t bytes : kSizes) {
    forget();
    const auto immediate = static_cast<uint32_t>(bytes * 3 + 0x80000001);
    ASSERT_EQ(responder_->receive_nothing(bytes + 1), 0);
    ASSERT_EQ(requester_->write_with_immediate(bytes, source_->piece(kFrom, bytes),
                                               target_->remote(kTo), immediate),
              0);
    const auto received = responder_->received(1);
    ASSERT_EQ(statuses(received), std::vector{IBV_WC_SUCCESS}) << bytes;
    // The receive completion is the promise that the data is there.
    expect_copied(bytes);
    EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(received[0].byte_len, bytes);
    EXPECT_EQ(received[0].wr_id, bytes + 1);
    EXPECT_NE(received[0].wc_flags & IBV_WC_WITH_IMM, 0U);
    EXPECT_EQ(ntohl(received[0].imm_data), immediate);
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  }
}

TEST_F(Data, ReadsOfAllSizes) {
  // The other way round: the requester's target is filled from the responder's source.
  for (const size_t bytes : kSizes) {
    forget();
    ASSERT_EQ(requester_->read(bytes, target_->piece(kTo, bytes), source_->remote(kFrom)), 0);
    const auto sent = requester_->sent(1);
    ASSERT_EQ(statuses(sent), std::vector{IBV_WC_SUCCESS}) << bytes;
    EXPECT_EQ(sent[0].opcode, IBV_WC_RDMA_READ);
    expect_copied(bytes);
  }
}

TEST_F(Data, SendsOfAllSizes) {
  for (const size_t bytes : kSizes) {
    forget();
    ASSERT_EQ(responder_->receive(bytes + 1, target_->piece(kTo, kSizes.back())), 0);
    ASSERT_EQ(requester_->send(bytes, source_->piece(kFrom, bytes)), 0);
    const auto received = responder_->received(1);
    ASSERT_EQ(statuses(received), std::vector{IBV_WC_SUCCESS}) << bytes;
    expect_copied(bytes);
    EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
    EXPECT_EQ(received[0].byte_len, bytes);
    EXPECT_EQ(received[0].wc_flags & IBV_WC_WITH_IMM, 0U);
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  }
}

TEST_F(Data, ASendMayFillItsReceiveToTheLastByte) {
  ASSERT_EQ(responder_->receive(1, target_->piece(kTo, 5001)), 0);
  ASSERT_EQ(requester_->send(2, source_->piece(kFrom, 5001)), 0);
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_SUCCESS});
  expect_copied(5001);
}

TEST_F(Data, SendWithImmediateCarriesBoth) {
  ASSERT_EQ(responder_->receive(1, target_->piece(kTo, 9000)), 0);
  ASSERT_EQ(requester_->send_with_immediate(2, source_->piece(kFrom, 3000), 0xDEADBEEF), 0);
  const auto received = responder_->received(1);
  ASSERT_EQ(statuses(received), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(received[0].byte_len, 3000U);
  EXPECT_NE(received[0].wc_flags & IBV_WC_WITH_IMM, 0U);
  EXPECT_EQ(ntohl(received[0].imm_data), 0xDEADBEEFU);
  expect_copied(3000);
}

TEST_F(Data, AnEmptyMessageNeedsNoMemory) {
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, {}), 0);
  ASSERT_EQ(requester_->post(2, IBV_WR_RDMA_READ, {}), 0);
  ASSERT_EQ(responder_->receive_nothing(3), 0);
  ASSERT_EQ(requester_->post(4, IBV_WR_SEND, {}), 0);
  ASSERT_EQ(responder_->receive_nothing(5), 0);
  ASSERT_EQ(requester_->post(6, IBV_WR_RDMA_WRITE_WITH_IMM, {}, {}, 77), 0);
  EXPECT_EQ(statuses(requester_->sent(4)), std::vector(4, IBV_WC_SUCCESS));
  const auto received = responder_->received(2);
  ASSERT_EQ(statuses(received), std::vector(2, IBV_WC_SUCCESS));
  EXPECT_EQ(received[0].byte_len, 0U);
  EXPECT_EQ(received[1].byte_len, 0U);
  EXPECT_EQ(ntohl(received[1].imm_data), 77U);
}

// Pieces.

TEST_F(Data, WritesAreGatheredFromPieces) {
  const ibv_sge pieces[] = {source_->piece(0, 1), source_->piece(5000, 3001), source_->piece(70, 0),
                            source_->piece(100'001, 70'000)};
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, pieces, target_->remote(kTo)), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  expect_bytes(*source_, 0, *target_, kTo, 1);
  expect_bytes(*source_, 5000, *target_, kTo + 1, 3001);
  expect_bytes(*source_, 100'001, *target_, kTo + 3002, 70'000);
  EXPECT_EQ(target_->first_other(kUntouched, kTo + 73'002, target_->size()), target_->size());
}

TEST_F(Data, PiecesMayComeFromDifferentRegions) {
  Memory other(domain(), 8192);
  other.fill(2);
  const ibv_sge pieces[] = {source_->piece(10, 2000), other.piece(100, 2000)};
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, pieces, target_->remote(kTo)), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  expect_bytes(*source_, 10, *target_, kTo, 2000);
  expect_bytes(other, 100, *target_, kTo + 2000, 2000);
}

TEST_F(Data, ReadsAreScatteredToPieces) {
  const ibv_sge pieces[] = {target_->piece(9, 777), target_->piece(20'000, 4096),
                            target_->piece(50'000, 30'001)};
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_READ, pieces, source_->remote(kFrom)), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  expect_bytes(*source_, kFrom, *target_, 9, 777);
  expect_bytes(*source_, kFrom + 777, *target_, 20'000, 4096);
  expect_bytes(*source_, kFrom + 4873, *target_, 50'000, 30'001);
  EXPECT_EQ(target_->first_other(kUntouched, 786, 20'000), 20'000U);
  EXPECT_EQ(target_->first_other(kUntouched, 80'001, target_->size()), target_->size());
}

TEST_F(Data, SendsAreScatteredToThePiecesOfTheReceive) {
  const ibv_sge pieces[] = {target_->piece(100, 10), target_->piece(1000, 5000),
                            target_->piece(10'000, 5000)};
  ASSERT_EQ(responder_->post_receive(1, pieces), 0);
  ASSERT_EQ(requester_->send(2, source_->piece(kFrom, 6000)), 0);
  const auto received = responder_->received(1);
  ASSERT_EQ(statuses(received), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(received[0].byte_len, 6000U);
  expect_bytes(*source_, kFrom, *target_, 100, 10);
  expect_bytes(*source_, kFrom + 10, *target_, 1000, 5000);
  expect_bytes(*source_, kFrom + 5010, *target_, 10'000, 990);
  EXPECT_EQ(target_->first_other(kUntouched, 10'990, target_->size()), target_->size());
}

TEST_F(Data, MorePiecesThanTheQueueHasAreRefused) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr creation{};
  ASSERT_EQ(ibv_query_qp(requester_->queue_pair(), &attributes, IBV_QP_CAP, &creation), 0);
  const std::vector<ibv_sge> sends(creation.cap.max_send_sge + 1, source_->piece(0, 1));
  EXPECT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, sends, target_->remote()), EINVAL);
  const std::vector<ibv_sge> receives(creation.cap.max_recv_sge + 1, target_->piece(0, 1));
  EXPECT_EQ(responder_->post_receive(2, receives), EINVAL);
}

// Inline.

TEST_F(Data, InlineDataIsTakenWhenPosted) {
  std::vector<uint8_t> unregistered(Shape{}.inline_bytes);
  for (size_t i = 0; i < unregistered.size(); ++i) {
    unregistered[i] = pattern(3, i);
  }
  const ibv_sge local{reinterpret_cast<uint64_t>(unregistered.data()),
                      static_cast<uint32_t>(unregistered.size()), 0};
  const unsigned flags = kSignaled | IBV_SEND_INLINE;
  ASSERT_EQ(responder_->receive(1, target_->piece(1000, 100)), 0);
  ASSERT_EQ(requester_->write(1, local, target_->remote(0), flags), 0);
  ASSERT_EQ(requester_->send(2, local, flags), 0);
  const std::vector<uint8_t> original = unregistered;
  unregistered.assign(unregistered.size(), 0xEE);
  ASSERT_EQ(statuses(requester_->sent(2)), std::vector(2, IBV_WC_SUCCESS));
  ASSERT_EQ(responder_->received(1).size(), 1U);
  EXPECT_EQ(std::memcmp(target_->data(), original.data(), original.size()), 0);
  EXPECT_EQ(std::memcmp(target_->data() + 1000, original.data(), original.size()), 0);
}

TEST_F(Data, InlineDataIsGatheredFromPieces) {
  const ibv_sge pieces[] = {source_->piece(10, 20), source_->piece(500, 17)};
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, pieces, target_->remote(kTo), 0,
                             IBV_SEND_SIGNALED | IBV_SEND_INLINE),
            0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  expect_bytes(*source_, 10, *target_, kTo, 20);
  expect_bytes(*source_, 500, *target_, kTo + 20, 17);
}

TEST_F(Data, MoreInlineDataThanTheQueueTakesIsRefused) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr creation{};
  ASSERT_EQ(ibv_query_qp(requester_->queue_pair(), &attributes, IBV_QP_CAP, &creation), 0);
  const unsigned flags = kSignaled | IBV_SEND_INLINE;
  const uint32_t most = creation.cap.max_inline_data;
  EXPECT_NE(requester_->write(1, source_->piece(0, most + 1), target_->remote(), flags), 0);
  EXPECT_EQ(requester_->write(2, source_->piece(0, most), target_->remote(), flags), 0);
  EXPECT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{2});
  expect_bytes(*source_, 0, *target_, 0, most);
  EXPECT_EQ(target_->first_other(kUntouched, most, most + 1), most + 1);
}

// Order.

TEST_F(Data, MessagesArriveInTheOrderOfPosting) {
  constexpr uint64_t kCount = 20;
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(responder_->receive(100 + i, target_->piece(i * 8192, 8192)), 0);
  }
  for (uint64_t i = 0; i < kCount; ++i) {
    // Long and short ones, with and without immediate.
    const size_t bytes = i % 3 == 0 ? 8000 : i;
    ASSERT_EQ(i % 2 == 0 ? requester_->send_with_immediate(i, source_->piece(i, bytes), uint32_t(i))
                         : requester_->send(i, source_->piece(i, bytes)),
              0);
  }
  const auto received = responder_->received(kCount);
  const auto sent = requester_->sent(kCount);
  ASSERT_EQ(received.size(), kCount);
  ASSERT_EQ(sent.size(), kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    const size_t bytes = i % 3 == 0 ? 8000 : i;
    EXPECT_EQ(received[i].wr_id, 100 + i);
    EXPECT_EQ(received[i].byte_len, bytes);
    EXPECT_EQ(sent[i].wr_id, i);
    expect_bytes(*source_, i, *target_, i * 8192, bytes);
  }
}

TEST_F(Data, TheLastOfManyWritesToOnePlaceStays) {
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_EQ(requester_->write(i, source_->piece(i * 100, 3000), target_->remote(kTo),
                                i == 29 ? kSignaled : kUnsignaled),
              0);
  }
  ASSERT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{29});
  expect_bytes(*source_, 2900, *target_, kTo, 3000);
}

TEST_F(Data, ASendSaysThatEarlierWritesAreThere) {
  for (uint64_t i = 0; i < 20; ++i) {
    forget();
    ASSERT_EQ(responder_->receive(i, target_->piece(0, 64)), 0);
    ASSERT_EQ(
        requester_->write(1, source_->piece(kFrom, 20'000), target_->remote(kTo), kUnsignaled), 0);
    ASSERT_EQ(requester_->send(2, source_->piece(0, 8), IBV_SEND_SIGNALED), 0);
    ASSERT_EQ(responder_->received(1).size(), 1U);
    expect_bytes(*source_, kFrom, *target_, kTo, 20'000);
    ASSERT_EQ(requester_->sent(1).size(), 1U);
  }
}

TEST_F(Data, AReadSeesEarlierWritesOfItsQueuePair) {
  Memory back(domain(), 65'536);
  back.fill_with(kUntouched);
  ASSERT_EQ(requester_->write(1, source_->piece(kFrom, 50'000), target_->remote(kTo), kUnsignaled),
            0);
  ASSERT_EQ(requester_->read(2, back.piece(3, 50'000), target_->remote(kTo)), 0);
  ASSERT_EQ(ids(requester_->sent(1)), std::vector<uint64_t>{2});
  expect_bytes(*source_, kFrom, back, 3, 50'000);
}

TEST_F(Data, FencedWritesFollowTheReadsBeforeThem) {
  Memory back(domain(), 65'536);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 50'000), target_->remote(kTo), kUnsignaled), 0);
  ASSERT_EQ(requester_->read(2, back.piece(0, 50'000), target_->remote(kTo)), 0);
  // Without the fence this write could overtake the read's answer.
  ASSERT_EQ(requester_->write(3, source_->piece(100'000, 50'000), target_->remote(kTo),
                              IBV_SEND_SIGNALED | IBV_SEND_FENCE),
            0);
  ASSERT_EQ(ids(requester_->sent(2)), (std::vector<uint64_t>{2, 3}));
  expect_bytes(*source_, 0, back, 0, 50'000);
  expect_bytes(*source_, 100'000, *target_, kTo, 50'000);
}

TEST_F(Data, MoreReadsThanMayBeInFlightWaitTheirTurn) {
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 4 * kReadsInFlight; ++i) {
    ASSERT_EQ(requester_->read(i, target_->piece(i * 4096, 3001), source_->remote(i * 5000)), 0);
    expected.push_back(i);
  }
  EXPECT_EQ(ids(requester_->sent(expected.size())), expected);
  for (uint64_t i = 0; i < expected.size(); ++i) {
    expect_bytes(*source_, i * 5000, *target_, i * 4096, 3001);
  }
}

TEST_F(Data, BothDirectionsWorkAtOnce) {
  Memory source_there(domain(), 1 << 20);
  Memory target_here(domain(), 1 << 20);
  source_there.fill(9);
  for (uint64_t i = 0; i < 8; ++i) {
    const size_t place = i * 100'000;
    ASSERT_EQ(requester_->write(i, source_->piece(place, 90'001), target_->remote(place)), 0);
    ASSERT_EQ(responder_->write(i, source_there.piece(place, 90'001), target_here.remote(place)),
              0);
  }
  EXPECT_EQ(statuses(requester_->sent(8)), std::vector(8, IBV_WC_SUCCESS));
  EXPECT_EQ(statuses(responder_->sent(8)), std::vector(8, IBV_WC_SUCCESS));
  for (size_t place = 0; place < 800'000; place += 100'000) {
    expect_bytes(*source_, place, *target_, place, 90'001);
    expect_bytes(source_there, place, target_here, place, 90'001);
  }
}

TEST_F(Data, QueuePairsOfOneProcessDoNotMixTheirData) {
  const auto first_requester = std::move(requester_);
  const auto first_responder = std::move(responder_);
  connect();
  ASSERT_EQ(first_responder->receive(1, target_->piece(0, 4096)), 0);
  ASSERT_EQ(responder_->receive(2, target_->piece(8192, 4096)), 0);
  ASSERT_EQ(requester_->send(3, source_->piece(0, 1000)), 0);
  ASSERT_EQ(first_requester->send(4, source_->piece(5000, 1000)), 0);
  EXPECT_EQ(ids(first_responder->received(1)), std::vector<uint64_t>{1});
  EXPECT_EQ(ids(responder_->received(1)), std::vector<uint64_t>{2});
  expect_bytes(*source_, 5000, *target_, 0, 1000);
  expect_bytes(*source_, 0, *target_, 8192, 1000);
}

}  // namespace
}  // namespace rocelane::contract
