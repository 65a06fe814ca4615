// Making and destroying objects: limits, keys, and the order in which they may go.

#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_test.h"

namespace rocelane::contract {
namespace {

class Objects : public VerbsTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(VerbsTest::SetUp());
    completions_.reset(ibv_create_cq(context(), 16, nullptr, nullptr, 0));
    ASSERT_NE(completions_, nullptr) << std::strerror(errno);
  }

  ibv_qp_init_attr creation() const {
    ibv_qp_init_attr creation{};
    creation.send_cq = completions_.get();
    creation.recv_cq = completions_.get();
    creation.qp_type = IBV_QPT_RC;
    creation.cap = {8, 8, 2, 2, 0};
    return creation;
  }

  // The errno of an attempt to create a queue pair; 0 when there is one.
  int refusal(ibv_qp_init_attr creation) const {
    errno = 0;
    const QueuePair queue_pair(ibv_create_qp(domain(), &creation));
    return queue_pair != nullptr ? 0 : errno;
  }

  CompletionQueue completions_;
};

// Memory regions.

TEST_F(Objects, RegionsTellWhatTheyCover) {
  const Memory memory(domain(), 3 * 4096);
  ASSERT_NE(memory.region(), nullptr);
  EXPECT_EQ(memory.region()->addr, memory.data());
  EXPECT_EQ(memory.region()->length, memory.size());
  EXPECT_EQ(memory.region()->pd, domain());
  EXPECT_EQ(memory.region()->context, context());
}

TEST_F(Objects, RegionsOfTheSameMemoryHaveTheirOwnKeys) {
  const Memory memory(domain(), 4096);
  const Region second(ibv_reg_mr(domain(), memory.data(), memory.size(), kAllAccess));
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second->rkey, memory.region()->rkey);
  EXPECT_NE(second->lkey, memory.region()->lkey);
}

TEST_F(Objects, RegionsNeedNotStartWithAPage) {
  const Pages pages(8192);
  const Region region(ibv_reg_mr(domain(), pages.data() + 4001, 100, kAllAccess));
  ASSERT_NE(region, nullptr) << std::strerror(errno);
  EXPECT_EQ(region->addr, pages.data() + 4001);
  EXPECT_EQ(region->length, 100U);
}

TEST_F(Objects, RemoteWriteNeedsLocalWrite) {
  const Pages pages(4096);
  errno = 0;
  const Region region(ibv_reg_mr(domain(), pages.data(), 4096, IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(region, nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Objects, NoRegionIsEmpty) {
  const Pages pages(4096);
  errno = 0;
  const Region region(ibv_reg_mr(domain(), pages.data(), 0, kAllAccess));
  EXPECT_EQ(region, nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Objects, NoRegionCoversMemoryThatIsNotThere) {
  void* gone = nullptr;
  {
    const Pages pages(1 << 20);
    gone = pages.data();
  }
  errno = 0;
  const Region region(ibv_reg_mr(domain(), gone, 4096, kAllAccess));
  EXPECT_EQ(region, nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(Objects, RelaxedOrderingIsAccepted) {
  const Pages pages(4096);
  const Region region(
      ibv_reg_mr(domain(), pages.data(), 4096, kAllAccess | IBV_ACCESS_RELAXED_ORDERING));
  EXPECT_NE(region, nullptr) << std::strerror(errno);
  const Region other(ibv_reg_mr_iova2(domain(), pages.data(), 4096,
                                      reinterpret_cast<uint64_t>(pages.data()),
                                      kAllAccess | IBV_ACCESS_RELAXED_ORDERING));
  EXPECT_NE(other, nullptr) << std::strerror(errno);
}

TEST_F(Objects, OnlyDmaBufsAreRegisteredAsSuch) {
  errno = 0;
  const Region region(ibv_reg_dmabuf_mr(domain(), 0, 4096, 0, -1, kAllAccess));
  EXPECT_EQ(region, nullptr);
  EXPECT_EQ(errno, traits().registers_dma_buf ? EBADF : EOPNOTSUPP);
}

// Completion queues.

TEST_F(Objects, CompletionQueuesHaveAtLeastTheDepthAskedFor) {
  for (const int depth : {1, 2, 15, 16, 1000}) {
    const CompletionQueue queue(ibv_create_cq(context(), depth, this, nullptr, 0));
    ASSERT_NE(queue, nullptr) << depth << ": " << std::strerror(errno);
    EXPECT_GE(queue->cqe, depth);
    EXPECT_EQ(queue->cq_context, this);
    EXPECT_EQ(queue->context, context());
    EXPECT_EQ(queue->channel, nullptr);
  }
}

TEST_F(Objects, CompletionQueuesOutsideTheLimitsAreRefused) {
  const int limit = device_limits().max_cqe;
  for (const int depth : {0, -1, limit + 1}) {
    errno = 0;
    const CompletionQueue queue(ibv_create_cq(context(), depth, nullptr, nullptr, 0));
    EXPECT_EQ(queue, nullptr) << depth;
    EXPECT_EQ(errno, EINVAL) << depth;
  }
}

TEST_F(Objects, CompletionVectorsEndWithTheirNumber) {
  ASSERT_GT(context()->num_comp_vectors, 0);
  const CompletionQueue last(
      ibv_create_cq(context(), 16, nullptr, nullptr, context()->num_comp_vectors - 1));
  EXPECT_NE(last, nullptr) << std::strerror(errno);
  errno = 0;
  const CompletionQueue beyond(
      ibv_create_cq(context(), 16, nullptr, nullptr, context()->num_comp_vectors));
  EXPECT_EQ(beyond, nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// Queue pairs.

TEST_F(Objects, QueuePairsHaveAtLeastWhatIsAskedFor) {
  ibv_qp_init_attr attributes = creation();
  attributes.cap.max_inline_data = 60;
  attributes.qp_context = this;
  const QueuePair queue_pair(ibv_create_qp(domain(), &attributes));
  ASSERT_NE(queue_pair, nullptr) << std::strerror(errno);
  EXPECT_GE(attributes.cap.max_send_wr, 8U);
  EXPECT_GE(attributes.cap.max_recv_wr, 8U);
  EXPECT_GE(attributes.cap.max_send_sge, 2U);
  EXPECT_GE(attributes.cap.max_recv_sge, 2U);
  EXPECT_GE(attributes.cap.max_inline_data, 60U);
  EXPECT_EQ(queue_pair->state, IBV_QPS_RESET);
  EXPECT_EQ(state_of(queue_pair.get()), IBV_QPS_RESET);
  EXPECT_EQ(queue_pair->qp_type, IBV_QPT_RC);
  EXPECT_EQ(queue_pair->qp_context, this);
  EXPECT_EQ(queue_pair->pd, domain());
  EXPECT_EQ(queue_pair->send_cq, completions_.get());
  EXPECT_EQ(queue_pair->recv_cq, completions_.get());
}

TEST_F(Objects, QueuePairsHaveNumbersOfTheirOwn) {
  std::vector<QueuePair> queue_pairs;
  std::set<uint32_t> numbers;
  for (int i = 0; i < 40; ++i) {
    ibv_qp_init_attr attributes = creation();
    queue_pairs.emplace_back(ibv_create_qp(domain(), &attributes));
    ASSERT_NE(queue_pairs.back(), nullptr);
    EXPECT_TRUE(numbers.insert(queue_pairs.back()->qp_num).second);
    EXPECT_GT(queue_pairs.back()->qp_num, 1U) << "0 and 1 are reserved";
    EXPECT_LT(queue_pairs.back()->qp_num, 1U << 24);
  }
}

TEST_F(Objects, QueuePairsOutsideTheLimitsAreRefused) {
  const ibv_device_attr limits = device_limits();
  const auto too_much = [&](auto change) {
    ibv_qp_init_attr attributes = creation();
    change(attributes.cap);
    return refusal(attributes);
  };
  EXPECT_EQ(refusal(creation()), 0);
  EXPECT_EQ(too_much([&](auto& cap) { cap.max_send_wr = uint32_t(limits.max_qp_wr) + 1; }), EINVAL);
  EXPECT_EQ(too_much([&](auto& cap) { cap.max_recv_wr = uint32_t(limits.max_qp_wr) + 1; }), EINVAL);
  EXPECT_EQ(too_much([&](auto& cap) { cap.max_send_sge = uint32_t(limits.max_sge) + 1; }), EINVAL);
  EXPECT_EQ(too_much([&](auto& cap) { cap.max_recv_sge = uint32_t(limits.max_sge) + 1; }), EINVAL);
  EXPECT_EQ(too_much([&](auto& cap) { cap.max_inline_data = 1 << 20; }), EINVAL);
}

TEST_F(Objects, AQueuePairMayHaveNoQueues) {
  ibv_qp_init_attr attributes = creation();
  attributes.cap = {};
  EXPECT_EQ(refusal(attributes), 0);
}

TEST_F(Objects, ACompletionQueueOfAnotherContextIsRefused) {
  Port port_again;
  const Context other = open_device(port_again);
  // Numbers of objects start anew in each context: the second queue here has one that `context()`
  // does not know.
  const CompletionQueue first(ibv_create_cq(other.get(), 16, nullptr, nullptr, 0));
  std::vector<CompletionQueue> queues;
  for (int i = 0; i < 8; ++i) {
    queues.emplace_back(ibv_create_cq(other.get(), 16, nullptr, nullptr, 0));
    ASSERT_NE(queues.back(), nullptr);
  }
  ibv_qp_init_attr attributes = creation();
  attributes.recv_cq = queues.back().get();
  EXPECT_NE(refusal(attributes), 0);
}

// Shared receive queues.

TEST_F(Objects, SharedReceiveQueuesHaveAtLeastWhatIsAskedFor) {
  ibv_srq_init_attr creation{this, {10, 2, 0}};
  const SharedReceiveQueue queue(ibv_create_srq(domain(), &creation));
  ASSERT_NE(queue, nullptr) << std::strerror(errno);
  ibv_srq_attr attributes{};
  ASSERT_EQ(ibv_query_srq(queue.get(), &attributes), 0);
  EXPECT_GE(attributes.max_wr, 10U);
  EXPECT_GE(attributes.max_sge, 2U);
  EXPECT_EQ(attributes.srq_limit, 0U);
  EXPECT_EQ(queue->srq_context, this);
  EXPECT_EQ(queue->pd, domain());
}

TEST_F(Objects, SharedReceiveQueuesOutsideTheLimitsAreRefused) {
  const ibv_device_attr limits = device_limits();
  const auto refusal_of = [&](uint32_t depth, uint32_t pieces) {
    ibv_srq_init_attr creation{nullptr, {depth, pieces, 0}};
    errno = 0;
    const SharedReceiveQueue queue(ibv_create_srq(domain(), &creation));
    return queue != nullptr ? 0 : errno;
  };
  EXPECT_EQ(refusal_of(4, 1), 0);
  EXPECT_EQ(refusal_of(0, 1), EINVAL);
  EXPECT_EQ(refusal_of(uint32_t(limits.max_srq_wr) + 1, 1), EINVAL);
  EXPECT_EQ(refusal_of(4, uint32_t(limits.max_srq_sge) + 1), EINVAL);
}

// Destroying what is in use.

TEST_F(Objects, AProtectionDomainWithAnythingInItIsBusy) {
  Domain domain(ibv_alloc_pd(context()));
  ASSERT_NE(domain, nullptr);
  {
    const Memory memory(domain.get(), 4096);
    ASSERT_NE(memory.region(), nullptr);
    EXPECT_EQ(ibv_dealloc_pd(domain.get()), EBUSY);
  }
  {
    ibv_qp_init_attr attributes = creation();
    const QueuePair queue_pair(ibv_create_qp(domain.get(), &attributes));
    ASSERT_NE(queue_pair, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(domain.get()), EBUSY);
  }
  {
    ibv_srq_init_attr attributes{nullptr, {4, 1, 0}};
    const SharedReceiveQueue queue(ibv_create_srq(domain.get(), &attributes));
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(ibv_dealloc_pd(domain.get()), EBUSY);
  }
}

TEST_F(Objects, ACompletionQueueOfAQueuePairIsBusy) {
  const CompletionQueue sends(ibv_create_cq(context(), 16, nullptr, nullptr, 0));
  const CompletionQueue receives(ibv_create_cq(context(), 16, nullptr, nullptr, 0));
  ibv_qp_init_attr attributes = creation();
  attributes.send_cq = sends.get();
  attributes.recv_cq = receives.get();
  const QueuePair queue_pair(ibv_create_qp(domain(), &attributes));
  ASSERT_NE(queue_pair, nullptr);
  EXPECT_EQ(ibv_destroy_cq(sends.get()), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(receives.get()), EBUSY);
}

TEST_F(Objects, ASharedReceiveQueueOfAQueuePairIsBusy) {
  ibv_srq_init_attr shared_creation{nullptr, {4, 1, 0}};
  const SharedReceiveQueue shared(ibv_create_srq(domain(), &shared_creation));
  ASSERT_NE(shared, nullptr);
  ibv_qp_init_attr attributes = creation();
  attributes.srq = shared.get();
  const QueuePair queue_pair(ibv_create_qp(domain(), &attributes));
  ASSERT_NE(queue_pair, nullptr);
  EXPECT_EQ(ibv_destroy_srq(shared.get()), EBUSY);
}

TEST_F(Objects, MemoryOfARegionMayGoFirst) {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Region region(ibv_reg_mr(domain(), memory, 8192, kAllAccess));
  ASSERT_NE(region, nullptr);
  munmap(memory, 8192);
  region.reset();  // its owner fails the test when this is an error
}

}  // namespace
}  // namespace rocelane::contract
