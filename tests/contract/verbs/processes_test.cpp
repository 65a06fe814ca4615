// Connections between processes.

#include <cstring>

#include <arpa/inet.h>

#include "peer_process.h"
#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Processes : public PairTest {
 protected:
  static constexpr uint32_t kPeerSeed = 21;  // of what the peer sends

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PairTest::SetUp());
    peer_ = std::make_unique<PeerProcess>();
    ASSERT_NO_FATAL_FAILURE(meet({}));
  }

  void meet(const Timing& timing) {
    requester_ = make_endpoint();
    const auto introduced = peer_->ask({.order = Order::kIntroduce});
    ASSERT_TRUE(introduced.has_value());
    peer_address_ = introduced->address;
    peer_memory_ = introduced->memory;
    EXPECT_EQ(ask({.order = Order::kConnect, .address = requester_->address()}), 0);
    ASSERT_EQ(requester_->connect(peer_address_, timing), 0);
  }

  int ask(const Request& request) const {
    const auto answer = peer_->ask(request);
    return answer.has_value() ? answer->status : -1;
  }

  std::unique_ptr<PeerProcess> peer_;
  Address peer_address_;
  RemoteMemory peer_memory_;
};

TEST_F(Processes, WriteToEachOther) {
  for (const uint32_t bytes : {0U, 64U, 5003U, 1'000'000U}) {
    ASSERT_EQ(ask({.order = Order::kPostReceive}), 0);
    ASSERT_EQ(
        requester_->write_with_immediate(1, source_->piece(0, bytes), peer_memory_, bytes + 3), 0);
    const auto there = peer_->ask({.order = Order::kWaitForReceive});
    ASSERT_TRUE(there.has_value());
    EXPECT_EQ(there->status, IBV_WC_SUCCESS);
    EXPECT_EQ(there->bytes, bytes);
    EXPECT_EQ(there->immediate, bytes + 3);
    EXPECT_EQ(ask({.order = Order::kCheckPattern, .bytes = bytes, .seed = 1}), 0);
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});

    ASSERT_EQ(requester_->receive_nothing(2), 0);
    EXPECT_EQ(ask({.order = Order::kWrite,
                   .memory = target_->remote(17),
                   .bytes = bytes,
                   .immediate = bytes + 4}),
              IBV_WC_SUCCESS);
    const auto here = requester_->received(1);
    ASSERT_EQ(here.size(), 1U);
    EXPECT_EQ(here[0].byte_len, bytes);
    EXPECT_EQ(ntohl(here[0].imm_data), bytes + 4);
    for (uint32_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(target_->data()[17 + i], pattern(kPeerSeed, i)) << i;
    }
    EXPECT_EQ(target_->data()[17 + bytes], kUntouched);
  }
}

TEST_F(Processes, ReadFromEachOther) {
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100'000), peer_memory_), 0);
  ASSERT_EQ(requester_->read(2, target_->piece(5, 100'000), peer_memory_), 0);
  EXPECT_EQ(statuses(requester_->sent(2)), std::vector(2, IBV_WC_SUCCESS));
  EXPECT_EQ(std::memcmp(target_->data() + 5, source_->data(), 100'000), 0);
}

TEST_F(Processes, AKeyOfOneProcessIsNoKeyOfAnother) {
  // Our own key, presented to the peer.
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(target_->first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Processes, AKilledPeerDoesNotAnswer) {
  meet({11, 2, 7, 12});
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), peer_memory_), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  peer_->kill_now();
  ASSERT_EQ(requester_->write(2, source_->piece(0, 100), peer_memory_), 0);
  ASSERT_EQ(requester_->write(3, source_->piece(0, 100), peer_memory_, kUnsignaled), 0);
  const auto sent = requester_->sent(2);
  EXPECT_EQ(ids(sent), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(statuses(sent), (std::vector{IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
}

TEST_F(Processes, APeerKilledWhileItIsWaitedForDoesNotAnswer) {
  // The peer has no receive, so this one is in its hands when it dies.
  ASSERT_EQ(requester_->write_with_immediate(1, source_->piece(0, 100), peer_memory_, 5), 0);
  EXPECT_TRUE(collect_for(requester_->send_completions(), kQuietTime).empty());
  peer_->kill_now();
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(Processes, APeerThatEndsLeavesRoomForTheNext) {
  for (int i = 0; i < 3; ++i) {
    peer_->kill_now();
    peer_ = std::make_unique<PeerProcess>();
    ASSERT_NO_FATAL_FAILURE(meet({}));
    ASSERT_EQ(requester_->write(1, source_->piece(0, 5000), peer_memory_), 0);
    ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
    EXPECT_EQ(ask({.order = Order::kCheckPattern, .bytes = 5000, .seed = 1}), 0);
  }
}

}  // namespace
}  // namespace rocelane::contract
