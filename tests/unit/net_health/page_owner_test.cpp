#include "net/health/page_owner.h"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support.h"

namespace rocelane::telemetry {
namespace {

constexpr uint64_t kStarted = 5'000;

OwnerFacts process(uint32_t pid, uint64_t start_ticks) {
  OwnerFacts facts{};
  facts.pid = pid;
  facts.uid = 1000;
  facts.start_ticks = start_ticks;
  facts.pid_namespace = 4026531836;
  facts.boot_id[3] = 7;
  std::strcpy(facts.host_name, "gpu-12");
  return facts;
}

OwnerFate fate(const OwnerFacts& owner, std::optional<uint64_t> start_ticks_now) {
  return fate_of(owner, process(1, 1), [=](uint32_t) { return start_ticks_now; });
}

TEST(OwnerFate, IsRunningWhileNumberAndStartTimeAreThose) {
  EXPECT_EQ(fate(process(42, kStarted), kStarted), OwnerFate::kRunning);
}

TEST(OwnerFate, IsEndedWhenTheNumberIsFree) {
  EXPECT_EQ(fate(process(42, kStarted), std::nullopt), OwnerFate::kEnded);
}

TEST(OwnerFate, IsEndedWhenTheNumberBelongsToAYoungerProcess) {
  EXPECT_EQ(fate(process(42, kStarted), kStarted + 1), OwnerFate::kEnded);
}

TEST(OwnerFate, IsUnknownWhereProcDoesNotSay) {
  EXPECT_EQ(fate(process(42, kStarted), 0), OwnerFate::kUnknown);
  EXPECT_EQ(fate(process(42, 0), kStarted), OwnerFate::kUnknown);
}

TEST(OwnerFate, IsUnknownInAnotherPidNamespace) {
  OwnerFacts elsewhere = process(42, kStarted);
  elsewhere.pid_namespace = 99;
  EXPECT_EQ(fate(elsewhere, std::nullopt), OwnerFate::kUnknown);
}

TEST(OwnerFate, IsUnknownOfThisProcessBecauseExecKeepsItsNumber) {
  EXPECT_EQ(fate(process(1, 1), 1), OwnerFate::kUnknown);
}

TEST(OwnerFate, IsForeignForOtherUsersAndHosts) {
  OwnerFacts other_user = process(42, kStarted);
  other_user.uid = 1001;
  EXPECT_EQ(fate(other_user, std::nullopt), OwnerFate::kForeign);
  OwnerFacts other_host = process(42, kStarted);
  other_host.boot_id[3] = 8;
  std::strcpy(other_host.host_name, "gpu-13");
  EXPECT_EQ(fate(other_host, std::nullopt), OwnerFate::kForeign);
}

TEST(OwnerFate, IsEndedByARebootOfThisHost) {
  OwnerFacts before = process(42, kStarted);
  before.boot_id[3] = 8;
  EXPECT_EQ(fate(before, kStarted), OwnerFate::kEnded);
}

TEST(OwnerFacts, OfThisProcessNameIt) {
  const OwnerFacts me = read_own_facts();
  EXPECT_EQ(me.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(me.uid, geteuid());
  EXPECT_GT(me.start_ticks, 0U);
  EXPECT_GT(me.pid_namespace, 0U);
  EXPECT_NE(me.host_name[0], '\0');
  EXPECT_EQ(fate_of(me, process(1, 1), read_start_ticks), OwnerFate::kForeign);
}

TEST(StartTicks, AreThoseOfAProcessWhileItRuns) {
  Child child([] { return pause(); });
  EXPECT_GE(read_start_ticks(child.pid()).value_or(0), read_own_facts().start_ticks);
  child.kill();
  child.wait();
  EXPECT_EQ(read_start_ticks(child.pid()), std::nullopt);
}

}  // namespace
}  // namespace rocelane::telemetry
