// Keys, ranges, rights and protection domains: what is refused, what each side learns of it, and
// that nothing was written.

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Protection : public PairTest {
 protected:
  // The requester has posted one request, 1, that the responder must refuse with `status`.
  void expect_refused_by_responder(ibv_wc_status status) {
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{status});
    EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_ERR);
    expect_state(*responder_, IBV_QPS_ERR);
    const auto event = next_event(traits().has_refusal_events ? kEventTime : kQuietTime);
    ASSERT_EQ(event.has_value(), traits().has_refusal_events);
    if (event.has_value()) {
      EXPECT_EQ(event->event_type,
                status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
      EXPECT_EQ(event->element.qp, responder_->queue_pair());
    }
    expect_nothing_written();
  }

  void expect_refused_by_requester(ibv_wc_status status) {
    EXPECT_EQ(statuses(requester_->sent(1)), std::vector{status});
    EXPECT_EQ(state_of(requester_->queue_pair()), IBV_QPS_ERR);
    EXPECT_EQ(state_of(responder_->queue_pair()), IBV_QPS_RTS);
    expect_nothing_written();
  }

  void expect_nothing_written() const {
    EXPECT_EQ(target_->first_other(kUntouched, 0, target_->size()), target_->size());
  }

  static void expect_state(const Endpoint& endpoint, ibv_qp_state state) {
    const auto start = std::chrono::steady_clock::now();
    while (state_of(endpoint.queue_pair()) != state &&
           std::chrono::steady_clock::now() - start < kEventTime) {
    }
    EXPECT_EQ(state_of(endpoint.queue_pair()), state);
  }
};

// The requester's own memory.

TEST_F(Protection, WritesFromAnUnknownKeyAreRefused) {
  ibv_sge local = source_->piece(0, 100);
  local.lkey ^= 0x00FFFF00;
  ASSERT_EQ(requester_->write(1, local, target_->remote()), 0);
  expect_refused_by_requester(traits().unknown_lkey);
}

TEST_F(Protection, SendsFromAnUnknownKeyAreRefused) {
  ibv_sge local = source_->piece(0, 100);
  local.lkey ^= 0x00FFFF00;
  ASSERT_EQ(responder_->receive(5, target_->piece(0, 100)), 0);
  ASSERT_EQ(requester_->send(1, local), 0);
  expect_refused_by_requester(traits().unknown_lkey);
}

TEST_F(Protection, WritesFromBeyondARegionAreRefused) {
  const ibv_sge local = source_->piece(source_->size() - 99, 100);
  ASSERT_EQ(requester_->write(1, local, target_->remote()), 0);
  expect_refused_by_requester(IBV_WC_LOC_PROT_ERR);
}

TEST_F(Protection, WritesFromBeforeARegionAreRefused) {
  ibv_sge local = source_->piece(0, 100);
  local.addr -= 1;
  ASSERT_EQ(requester_->write(1, local, target_->remote()), 0);
  expect_refused_by_requester(IBV_WC_LOC_PROT_ERR);
}

TEST_F(Protection, WritesFromMemoryOfAnotherDomainAreRefused) {
  const Domain other(ibv_alloc_pd(context()));
  const Memory memory(other.get(), 4096);
  ASSERT_EQ(requester_->write(1, memory.piece(0, 100), target_->remote()), 0);
  expect_refused_by_requester(traits().unknown_lkey);
}

TEST_F(Protection, WritesFromADeregisteredRegionAreRefused) {
  Memory memory(domain(), 4096);
  const ibv_sge local = memory.piece(0, 100);
  memory.deregister();
  ASSERT_EQ(requester_->write(1, local, target_->remote()), 0);
  expect_refused_by_requester(traits().unknown_lkey);
}

TEST_F(Protection, WritesNeedNoRightsOnTheirOwnMemory) {
  Memory memory(domain(), 4096, 0);
  ASSERT_NE(memory.region(), nullptr);
  memory.fill(4);
  ASSERT_EQ(requester_->write(1, memory.piece(0, 100), target_->remote()), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(target_->data(), memory.data(), 100), 0);
}

TEST_F(Protection, ReadsIntoMemoryThatMayNotBeWrittenAreRefused) {
  Memory memory(domain(), 4096, 0);
  memory.fill_with(kUntouched);
  ASSERT_EQ(requester_->read(1, memory.piece(0, 100), source_->remote()), 0);
  expect_refused_by_requester(IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(memory.first_other(kUntouched, 0, 100), 100U);
}

// The responder's memory, one-sided.

TEST_F(Protection, WritesToAnUnknownKeyAreRefused) {
  RemoteMemory remote = target_->remote();
  remote.rkey ^= 0x00FFFF00;
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, WritesToAKeyThatIsOffByOneAreRefused) {
  RemoteMemory remote = target_->remote();
  remote.rkey ^= 1;
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, WritesBeyondARegionAreRefused) {
  const RemoteMemory remote = target_->remote(target_->size() - 99);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, LongWritesBeyondARegionAreRefusedBeforeTheirFirstByte) {
  const RemoteMemory remote = target_->remote(target_->size() - 99'999);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100'000), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, WritesBeforeARegionAreRefused) {
  RemoteMemory remote = target_->remote();
  remote.address -= 1;
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, WritesAroundTheEndOfTheAddressSpaceAreRefused) {
  RemoteMemory remote = target_->remote();
  remote.address = UINT64_MAX - 10;
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, ReadsBeyondARegionAreRefused) {
  const RemoteMemory remote = source_->remote(source_->size() - 99);
  ASSERT_EQ(requester_->read(1, target_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, EmptyWritesLookAtNoKey) {
  ASSERT_EQ(requester_->post(1, IBV_WR_RDMA_WRITE, {}, {12345, 0xBAD}), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
}

TEST_F(Protection, WritesToMemoryThatIsOnlyReadableAreRefused) {
  Memory memory(domain(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  memory.fill_with(kUntouched);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), memory.remote()), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(memory.first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Protection, ReadsOfMemoryThatIsOnlyWritableAreRefused) {
  const Memory memory(domain(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ASSERT_EQ(requester_->read(1, target_->piece(0, 100), memory.remote()), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, WritesToMemoryOfAnotherDomainAreRefused) {
  const Domain other(ibv_alloc_pd(context()));
  Memory memory(other.get(), 4096);
  memory.fill_with(kUntouched);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), memory.remote()), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(memory.first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Protection, WritesToADeregisteredRegionAreRefused) {
  Memory memory(domain(), 4096);
  memory.fill_with(kUntouched);
  const RemoteMemory remote = memory.remote();
  memory.deregister();
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), remote), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(memory.first_other(kUntouched, 0, 100), 100U);
}

TEST_F(Protection, WritesToAQueuePairWithoutRemoteWriteAreRefused) {
  Shape shape;
  shape.access = IBV_ACCESS_REMOTE_READ;
  connect({}, shape);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100), target_->remote()), 0);
  expect_refused_by_responder(traits().operation_not_allowed);
}

TEST_F(Protection, ReadsOfAQueuePairWithoutRemoteReadAreRefused) {
  Shape shape;
  shape.access = IBV_ACCESS_REMOTE_WRITE;
  connect({}, shape);
  ASSERT_EQ(requester_->read(1, target_->piece(0, 100), source_->remote()), 0);
  expect_refused_by_responder(traits().operation_not_allowed);
}

TEST_F(Protection, SendsNeedNoRights) {
  Shape shape;
  shape.access = 0;
  connect({}, shape);
  const Memory memory(domain(), 4096, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(responder_->receive(1, memory.piece(0, 100)), 0);
  ASSERT_EQ(requester_->send(2, source_->piece(0, 100)), 0);
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(memory.data(), source_->data(), 100), 0);
}

TEST_F(Protection, ARefusedImmediateFailsItsReceive) {
  RemoteMemory remote = target_->remote();
  remote.rkey ^= 0x00FFFF00;
  ASSERT_EQ(responder_->receive_nothing(5), 0);
  ASSERT_EQ(responder_->receive_nothing(6), 0);
  ASSERT_EQ(requester_->write_with_immediate(1, source_->piece(0, 100), remote, 3), 0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
  const auto received = responder_->received(2);
  ASSERT_EQ(ids(received), (std::vector<uint64_t>{5, 6}));
  EXPECT_NE(received[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(received[1].status, IBV_WC_WR_FLUSH_ERR);
}

// The responder's memory, two-sided.

TEST_F(Protection, ASendLongerThanItsReceiveFailsOnBothSides) {
  ASSERT_EQ(responder_->receive(5, target_->piece(0, 99)), 0);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{traits().long_message_at_sender});
  const auto received = responder_->received(1);
  EXPECT_EQ(ids(received), std::vector<uint64_t>{5});
  EXPECT_EQ(statuses(received), std::vector{traits().long_message_at_receiver});
  EXPECT_EQ(target_->first_other(kUntouched, 99, 200), 200U) << "written beyond the receive";
  expect_state(*responder_, IBV_QPS_ERR);
}

TEST_F(Protection, ASendIntoMemoryThatMayNotBeWrittenFailsOnBothSides) {
  Memory memory(domain(), 4096, 0);
  memory.fill_with(kUntouched);
  ASSERT_EQ(responder_->receive(5, memory.piece(0, 200)), 0);
  ASSERT_EQ(requester_->send(1, source_->piece(0, 100)), 0);
  EXPECT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_REM_OP_ERR});
  EXPECT_EQ(statuses(responder_->received(1)), std::vector{traits().protected_receive});
  EXPECT_EQ(memory.first_other(kUntouched, 0, 200), 200U);
  expect_state(*responder_, IBV_QPS_ERR);
}

// Regions with addresses of their own, and dma-bufs.

TEST_F(Protection, ARegionMayHaveAnAddressOfItsOwn) {
  const Pages pages(4 * 4096);
  constexpr uint64_t kAddress = 0x100000000;
  const Region region(ibv_reg_mr_iova(domain(), pages.data(), pages.size(), kAddress, kAllAccess));
  ASSERT_NE(region, nullptr) << std::strerror(errno);
  // As a target, and as a source.
  ASSERT_EQ(requester_->write(1, source_->piece(7, 9000), {kAddress + 5, region->rkey}), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(pages.data() + 5, source_->data() + 7, 9000), 0);
  ASSERT_EQ(requester_->write(2, {kAddress + 5, 9000, region->lkey}, target_->remote(3)), 0);
  ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
  EXPECT_EQ(std::memcmp(target_->data() + 3, source_->data() + 7, 9000), 0);
}

TEST_F(Protection, TheRealAddressOfSuchARegionIsNotInIt) {
  const Pages pages(4096);
  const Region region(ibv_reg_mr_iova(domain(), pages.data(), pages.size(), 0x10000, kAllAccess));
  ASSERT_NE(region, nullptr) << std::strerror(errno);
  ASSERT_EQ(requester_->write(1, source_->piece(0, 100),
                              {reinterpret_cast<uint64_t>(pages.data()), region->rkey}),
            0);
  expect_refused_by_responder(IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Protection, ADmaBufIsWrittenLikeMemory) {
  constexpr size_t kBytes = 3 * 4096;
  const int file = memfd_create("dma-buf", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  auto* mapped =
      static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ASSERT_NE(mapped, MAP_FAILED);
  constexpr uint64_t kAddress = 0x7000000;
  errno = 0;
  const Region region(ibv_reg_dmabuf_mr(domain(), 4096, 8192, kAddress, file, kAllAccess));
  if (traits().registers_dma_buf && traits().takes_memory_files) {
    ASSERT_NE(region, nullptr) << std::strerror(errno);
    close(file);  // the region keeps what it needs
    ASSERT_EQ(requester_->write(1, source_->piece(0, 5000), {kAddress + 11, region->rkey}), 0);
    ASSERT_EQ(statuses(requester_->sent(1)), std::vector{IBV_WC_SUCCESS});
    EXPECT_EQ(std::memcmp(mapped + 4096 + 11, source_->data(), 5000), 0);
  } else {
    EXPECT_EQ(region, nullptr);
    EXPECT_EQ(errno, traits().registers_dma_buf ? EINVAL : EOPNOTSUPP);
    close(file);
  }
  munmap(mapped, kBytes);
}

}  // namespace
}  // namespace rocelane::contract
