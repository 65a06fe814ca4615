#include "net/memory/registration.h"

#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_nic.h"

namespace rocelane::net {
namespace {

using testing::HasSubstr;

class RegistrationOnThreeRails : public testing::Test {
 protected:
  std::unique_ptr<Registration> register_all(const RegistrationRequest& wanted) {
    return Registration::create(rails_, wanted).value();
  }

  std::array<std::shared_ptr<FakeNic>, 3> nics_{FakeNic::create(), FakeNic::create(),
                                                FakeNic::create()};
  std::vector<std::shared_ptr<RegistrationCache>> rails_{nics_[0]->cache(), nics_[1]->cache(),
                                                         nics_[2]->cache()};
};

TEST_F(RegistrationOnThreeRails, HasTheKeysOfEveryRail) {
  // Other registrations first, so that every NIC counts differently.
  const auto on_second = rails_[1]->share(host_memory(0, 10)).value();
  const auto on_third = rails_[2]->share(host_memory(0, 10)).value();
  const auto also_on_third = rails_[2]->share(host_memory(20, 30)).value();
  const auto registration = register_all(gpu_memory(100, 200));
  for (size_t rail = 0; rail < 3; ++rail) {
    const uint32_t key = static_cast<uint32_t>(rail) + 1;
    EXPECT_EQ(registration->local_key(rail), key);
    EXPECT_EQ(registration->remote_key(rail), key | kRemoteKeyBit);
  }
  EXPECT_EQ(registration->local_key(), registration->local_key(0));
  EXPECT_EQ(registration->kind(), MemoryKind::kGpu);
}

TEST_F(RegistrationOnThreeRails, IsAnObjectOfItsOwnOverSharedRegistrations) {
  auto first = register_all(host_memory(100, 200));
  auto second = register_all(host_memory(100, 200));
  EXPECT_NE(first.get(), second.get());
  EXPECT_EQ(first->remote_key(), second->remote_key());
  first.reset();
  for (const auto& nic : nics_) {
    EXPECT_EQ(nic->events(), "+1");
  }
  second.reset();
  for (const auto& nic : nics_) {
    EXPECT_EQ(nic->events(), "+1 -1");
  }
}

TEST_F(RegistrationOnThreeRails, GivesBackTheFirstRailsWhenTheLastOneRefuses) {
  nics_[2]->refuse_next(1);
  const auto refused = Registration::create(rails_, host_memory(0x100, 0x200));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kSystem);
  EXPECT_EQ(refused.error().what,
            "256 bytes of host memory at 0x100 cannot be registered: the fake NIC has no room");
  EXPECT_EQ(nics_[0]->events(), "+1 -1");
  EXPECT_EQ(nics_[1]->events(), "+1 -1");
  EXPECT_EQ(nics_[2]->registered(), 0U);
}

TEST_F(RegistrationOnThreeRails, TakesNothingFromOthersWhenARailRefuses) {
  const auto others = rails_[0]->share(host_memory(0x100, 0x200)).value();
  nics_[1]->refuse_next(1);
  EXPECT_FALSE(Registration::create(rails_, host_memory(0x100, 0x200)).ok());
  EXPECT_EQ(nics_[0]->events(), "+1");
}

TEST_F(RegistrationOnThreeRails, SharesOneRegistrationBetweenTwoRailsOfOneDomain) {
  const std::array both{rails_[0], rails_[0]};
  auto registration = Registration::create(both, host_memory(100, 200)).value();
  EXPECT_EQ(registration->local_key(0), registration->local_key(1));
  registration.reset();
  EXPECT_EQ(nics_[0]->events(), "+1 -1");
}

TEST_F(RegistrationOnThreeRails, RefusesNoneAndTooMany) {
  rails_.resize(kMostRails + 1, rails_[0]);
  for (const auto& rails : {std::vector<std::shared_ptr<RegistrationCache>>{}, rails_}) {
    const auto refused = Registration::create(rails, host_memory(100, 200));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInternal);
    EXPECT_THAT(refused.error().what, HasSubstr("only with 1 to 8"));
  }
  EXPECT_EQ(nics_[0]->registered(), 0U);
}

}  // namespace
}  // namespace rocelane::net
