#include "net/memory/registration_cache.h"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fake_nic.h"

namespace rocelane::net {
namespace {

constexpr DmaBufIdentity kBuffer{8, 41, 0x10000};
constexpr DmaBufIdentity kOtherBuffer{8, 42, 0x10000};

class Cache : public testing::Test {
 protected:
  SharedRegistration share(const RegistrationRequest& wanted) {
    SharedRegistration shared = cache_->share(wanted).value();
    EXPECT_TRUE(nic_->accepts(shared.keys(), wanted.range, wanted.sharing_class));
    return shared;
  }

  std::shared_ptr<FakeNic> nic_ = FakeNic::create();
  std::shared_ptr<RegistrationCache> cache_ = nic_->cache();
};

TEST_F(Cache, RegistersTheSameRangeOnce) {
  const SharedRegistration first = share(host_memory(100, 200));
  const SharedRegistration second = share(host_memory(100, 200));
  EXPECT_EQ(first.keys().local, second.keys().local);
  EXPECT_EQ(first.keys().remote, second.keys().remote);
  EXPECT_EQ(nic_->registered(), 1U);
}

TEST_F(Cache, ServesAPartFromTheWhole) {
  const SharedRegistration whole = share(gpu_memory(100, 200));
  const SharedRegistration part = share(gpu_memory(120, 130));
  EXPECT_EQ(nic_->registered(), 1U);
}

TEST_F(Cache, RegistersWhatSticksOut) {
  const SharedRegistration first = share(host_memory(100, 200));
  const SharedRegistration second = share(host_memory(150, 201));
  EXPECT_NE(first.keys().local, second.keys().local);
  EXPECT_EQ(nic_->live(), 2U);
}

TEST_F(Cache, DeregistersWithTheLastReferenceAndAtOnce) {
  std::optional first(share(host_memory(100, 200)));
  std::optional second(share(host_memory(100, 200)));
  first.reset();
  EXPECT_EQ(nic_->live(), 1U);
  EXPECT_TRUE(nic_->accepts(second->keys(), {100, 200}, host_memory(100, 200).sharing_class));
  second.reset();
  EXPECT_EQ(nic_->live(), 0U);
}

TEST_F(Cache, RegistersAgainWhatWasLetGo) {
  const uint32_t before = share(host_memory(100, 200)).keys().local;
  const SharedRegistration again = share(host_memory(100, 200));
  EXPECT_NE(again.keys().local, before);
  EXPECT_EQ(nic_->events(), "+1 -1 +2");
}

TEST_F(Cache, KeepsTheSameRangeInOtherClassesApart) {
  std::vector<SharedRegistration> held;
  held.push_back(share(host_memory(0x10000, 0x20000)));
  held.push_back(share(host_memory(0x10000, 0x20000, true)));
  held.push_back(share(gpu_memory(0x10000, 0x20000)));
  held.push_back(share(gpu_memory(0x10000, 0x20000, true)));
  held.push_back(share(dma_buf(0x10000, 0x20000, kBuffer)));
  held.push_back(share(dma_buf(0x10000, 0x20000, kOtherBuffer)));
  EXPECT_EQ(nic_->live(), held.size());
  const size_t before = nic_->registered();
  held.push_back(share(gpu_memory(0x11000, 0x12000, true)));
  held.push_back(share(dma_buf(0x11000, 0x12000, kOtherBuffer)));
  EXPECT_EQ(nic_->registered(), before);
  held.clear();
  EXPECT_EQ(nic_->live(), 0U);
}

TEST_F(Cache, SharesADmaBufWhateverTheNumberOfItsDescriptor) {
  const SharedRegistration first = share(dma_buf(0x10000, 0x20000, kBuffer, 5));
  const SharedRegistration second = share(dma_buf(0x10000, 0x20000, kBuffer, 9));
  EXPECT_EQ(nic_->registered(), 1U);
}

TEST_F(Cache, DoesNotTakeAnotherDmaBufForTheSameBecauseOfItsDescriptor) {
  const SharedRegistration first = share(dma_buf(0x10000, 0x20000, kBuffer, 5));
  const SharedRegistration second = share(dma_buf(0x10000, 0x20000, kOtherBuffer, 5));
  EXPECT_EQ(nic_->registered(), 2U);
}

TEST_F(Cache, FindsEverythingThatIsLeftAfterARemovalInTheMiddle) {
  std::vector<SharedRegistration> held;
  for (uint64_t i = 0; i < 8; ++i) {
    held.push_back(share(host_memory(i * 100, i * 100 + 50)));
  }
  held.erase(held.begin() + 2);
  for (const uint64_t i : {0U, 1U, 3U, 4U, 5U, 6U, 7U}) {
    share(host_memory(i * 100 + 10, i * 100 + 20));
  }
  EXPECT_EQ(nic_->registered(), 8U);
}

TEST_F(Cache, KeepsTheWholeAliveForAPartButGivesNobodyElseOfIt) {
  std::optional whole(share(gpu_memory(100, 200)));
  std::optional part(share(gpu_memory(120, 130)));
  whole.reset();
  // Its memory around the part may be unmapped by now and other memory may have its place.
  EXPECT_TRUE(nic_->accepts(part->keys(), {120, 130}, gpu_memory(0, 0).sharing_class));
  const SharedRegistration new_neighbour = share(gpu_memory(140, 150));
  EXPECT_NE(new_neighbour.keys().local, part->keys().local);
  const SharedRegistration new_whole = share(gpu_memory(100, 200));
  EXPECT_NE(new_whole.keys().local, part->keys().local);
  EXPECT_EQ(nic_->live(), 3U);
  part.reset();
  EXPECT_EQ(nic_->events(), "+1 +2 +3 -1");
  EXPECT_EQ(share(gpu_memory(160, 170)).keys().local, new_whole.keys().local);
}

TEST_F(Cache, StillFindsTheWholeWhileASecondOwnerHoldsAllOfIt) {
  std::optional whole(share(gpu_memory(100, 200)));
  const SharedRegistration second_whole = share(gpu_memory(100, 200));
  whole.reset();
  const SharedRegistration part = share(gpu_memory(120, 130));
  EXPECT_EQ(nic_->registered(), 1U);
}

TEST_F(Cache, LeavesNothingBehindWhenTheNicRefuses) {
  nic_->refuse_next(1);
  const auto refused = cache_->share(host_memory(100, 200));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "the fake NIC has no room");
  EXPECT_EQ(nic_->registered(), 0U);
  share(host_memory(100, 200));
  EXPECT_EQ(nic_->events(), "+1 -1");
}

TEST_F(Cache, AsksTheNicForNothingItHas) {
  const SharedRegistration whole = share(host_memory(100, 200));
  nic_->refuse_next(1);
  EXPECT_TRUE(cache_->share(host_memory(110, 120)).ok());
  EXPECT_FALSE(cache_->share(host_memory(300, 400)).ok());
}

TEST_F(Cache, LivesAsLongAsAReferenceDoes) {
  std::optional held(share(host_memory(100, 200)));
  cache_.reset();
  EXPECT_EQ(nic_->live(), 1U);
  held.reset();
  EXPECT_EQ(nic_->live(), 0U);
}

TEST_F(Cache, ReferencesMoveWithoutBeingCounted) {
  SharedRegistration first = share(host_memory(100, 200));
  SharedRegistration second(std::move(first));
  SharedRegistration third;
  third = std::move(second);
  EXPECT_EQ(nic_->events(), "+1");
  third = share(host_memory(300, 400));
  EXPECT_EQ(nic_->events(), "+1 +2 -1");
  third = SharedRegistration();
  EXPECT_EQ(nic_->events(), "+1 +2 -1 -2");
}

}  // namespace
}  // namespace rocelane::net
