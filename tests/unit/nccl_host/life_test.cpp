#include "nccl_host/life.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_net.h"
#include "nccl_host/device_properties.h"

namespace rocelane::nccl_host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

LifeSettings settings_for(Traffic traffic, int ranks, int group, Mix mix, Threading threading,
                          uint64_t seed = 1) {
  LifeSettings settings;
  settings.ranks = ranks;
  settings.group = group;
  settings.warm_up_groups = 4;
  settings.threading = threading;
  settings.seed = seed;
  settings.patience_s = 20;
  PlanOptions plan;
  plan.seed = seed;
  plan.messages = 60;
  plan.group = group;
  plan.mix = mix;
  settings.plans = plan_messages(plan, routes_of(traffic, ranks));
  return settings;
}

void nothing_hangs(const std::string& sentence) { ADD_FAILURE() << sentence; }

Result<LifeResult> live_on(FakeNet& fake, const LifeSettings& settings, int abi = 12) {
  const std::unique_ptr<Net> net = fake.net(abi);
  return live(*net, settings, Softverbs(), nothing_hangs);
}

size_t planned(const LifeSettings& settings) {
  size_t messages = 0;
  for (const ConnectionPlan& plan : settings.plans) {
    messages += plan.messages();
  }
  return messages;
}

struct Case {
  int abi;
  Threading threading;
};

class EveryTable : public testing::TestWithParam<Case> {};

TEST_P(EveryTable, MovesEveryByteOfEveryKindOfMessage) {
  FakeNet fake;
  const LifeSettings settings =
      settings_for(Traffic::kAllToAll, 3, 4, Mix::kAll, GetParam().threading);
  const Result<LifeResult> result = live_on(fake, settings, GetParam().abi);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->abi, GetParam().abi);
  EXPECT_THAT(result->wrong, IsEmpty());
  EXPECT_EQ(result->wrong_bytes, 0U);
  EXPECT_EQ(result->senders.messages, result->receivers.messages);
  EXPECT_EQ(result->senders.bytes, result->receivers.bytes);
  EXPECT_LT(result->receivers.messages, planned(settings)) << "warm-up is not counted";
  EXPECT_GT(result->receivers.messages, planned(settings) / 2);
}

TEST_P(EveryTable, IsCalledAsNcclCallsIt) {
  FakeNet fake;
  const LifeSettings settings = settings_for(Traffic::kRing, 3, 2, Mix::kAll, GetParam().threading);
  const Result<LifeResult> result = live_on(fake, settings, GetParam().abi);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_THAT(fake.violations(), IsEmpty());
  const FakeNet::Calls calls = fake.calls();
  const bool contexts = GetParam().abi >= 11;
  EXPECT_EQ(calls.inits, contexts ? 3 : 1);
  EXPECT_EQ(calls.finalizes, contexts ? 3 : 0);
  EXPECT_EQ(calls.attributes, contexts ? 6 : 0) << "both threads of each rank";
  EXPECT_EQ(calls.listens, 3);
  EXPECT_EQ(calls.open_listeners, 0);
  EXPECT_EQ(calls.open_connections, 0);
  EXPECT_EQ(calls.open_registrations, 0);
  EXPECT_EQ(calls.largest_group, 2);
  EXPECT_GT(calls.host_registrations, 0) << "LL buffers";
  EXPECT_GT(calls.gpu_registrations, 0) << "the others";
  EXPECT_EQ(calls.hints > 0, GetParam().abi > 8);
  EXPECT_GT(calls.consumed, 0);
  EXPECT_LE(calls.most_outstanding_receives, 8U);
}

std::string name_of_case(const testing::TestParamInfo<Case>& tested) {
  return fmt::format("V{}{}", tested.param.abi,
                     tested.param.threading == Threading::kThreads ? "WithThreads" : "InRounds");
}

INSTANTIATE_TEST_SUITE_P(OfAllVersions, EveryTable,
                         testing::Values(Case{8, Threading::kRounds}, Case{9, Threading::kRounds},
                                         Case{10, Threading::kRounds}, Case{11, Threading::kRounds},
                                         Case{12, Threading::kRounds}, Case{8, Threading::kThreads},
                                         Case{12, Threading::kThreads}),
                         name_of_case);

TEST(Life, IsTheSameForTheSameSeed) {
  const auto digest = [](uint64_t seed) {
    FakeNet fake;
    return live_on(fake, settings_for(Traffic::kRing, 4, 3, Mix::kAll, Threading::kRounds, seed))
        ->trace_digest;
  };
  EXPECT_EQ(digest(5), digest(5));
  EXPECT_NE(digest(5), digest(6));
}

TEST(Life, FlushesOnlyWhatNcclWouldFlush) {
  FakeNet fake;
  fake.force_flush = 1;
  LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kSimple, Threading::kRounds);
  ASSERT_TRUE(live_on(fake, settings));
  EXPECT_EQ(fake.calls().flushes, 60);
  FakeNet low_latency;
  low_latency.force_flush = 1;
  settings = settings_for(Traffic::kPair, 2, 1, Mix::kLl128, Threading::kRounds);
  ASSERT_TRUE(live_on(low_latency, settings));
  EXPECT_EQ(low_latency.calls().flushes, 0);
}

TEST(Life, RegistersHostMemoryWhereTheDeviceTakesNoOther) {
  FakeNet fake;
  fake.takes_gpu_memory = false;
  const LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kAll, Threading::kRounds);
  ASSERT_TRUE(live_on(fake, settings));
  EXPECT_EQ(fake.calls().gpu_registrations, 0);
  EXPECT_THAT(fake.violations(), IsEmpty());
}

TEST(Life, HandsOverTheTrafficClass) {
  for (const int abi : {10, 11, 12}) {
    FakeNet fake;
    LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kLl, Threading::kRounds);
    settings.traffic_class = 104;
    ASSERT_TRUE(live_on(fake, settings, abi));
    EXPECT_EQ(fake.calls().last_traffic_class, 104) << abi;
  }
}

TEST(Life, AbortsWithRequestsOutstanding) {
  for (const Threading threading : {Threading::kRounds, Threading::kThreads}) {
    FakeNet fake;
    LifeSettings settings = settings_for(Traffic::kRing, 3, 1, Mix::kSimple, threading);
    settings.warm_up_groups = 0;
    settings.abort_after = 20;
    const Result<LifeResult> result = live_on(fake, settings);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_TRUE(result->aborted);
    EXPECT_GE(result->receivers.messages, 20U);
    EXPECT_LT(result->receivers.messages, planned(settings));
    EXPECT_EQ(fake.calls().open_connections, 0);
    EXPECT_EQ(fake.calls().open_registrations, 0);
    EXPECT_THAT(fake.violations(), IsEmpty());
  }
}

TEST(Life, KeepsToTheWindow) {
  FakeNet fake;
  LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kOdd, Threading::kRounds);
  settings.window = 3;
  ASSERT_TRUE(live_on(fake, settings));
  EXPECT_EQ(fake.calls().most_outstanding_receives, 3U);
}

TEST(Life, RefusesADeviceThatIsNotThere) {
  FakeNet fake;
  LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kLl, Threading::kRounds);
  settings.devices = {"fake_0", "9"};
  const Result<LifeResult> result = live_on(fake, settings);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "--devices names 9 for rank 1, but Fake has fake_0, fake_0.");
}

TEST(Life, RefusesGroupsTheDeviceCannotReceive) {
  FakeNet fake;
  LifeSettings settings = settings_for(Traffic::kPair, 2, 1, Mix::kLl, Threading::kRounds);
  settings.group = 9;
  const Result<LifeResult> result = live_on(fake, settings);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().what, HasSubstr("maxRecvs 8"));
}

TEST(Properties, ThatNcclWouldMisreadAreNamed) {
  FakeNet fake;
  NcclNetPropertiesV12 properties{};
  ASSERT_EQ(fake.net(12)->properties(0, &properties), kNcclSuccess);
  EXPECT_TRUE(check_properties(0, properties));
  properties.maxCollBytes = 0;
  EXPECT_THAT(check_properties(1, properties).error().what,
              HasSubstr("getProperties(1) gives maxP2pBytes 1073741824 and maxCollBytes 0"));
}

}  // namespace
}  // namespace rocelane::nccl_host
