// A net that breaks a rule must be found out, by a sentence that says where.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_net.h"
#include "nccl_host/life.h"

namespace rocelane::nccl_host {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

LifeSettings short_run(Protocol protocol, double patience_s) {
  LifeSettings settings;
  settings.threading = Threading::kRounds;
  settings.patience_s = patience_s;
  settings.vary_arguments = false;
  settings.flush = true;
  PlanOptions plan;
  plan.messages = 40;
  plan.sizes = {4096};
  plan.protocol = protocol;
  settings.plans = plan_messages(plan, routes_of(Traffic::kPair, 2));
  return settings;
}

Result<LifeResult> live_with(FakeNet& fake, const LifeSettings& settings) {
  return live(*fake.net(12), settings, Softverbs(),
              [](const std::string& sentence) { ADD_FAILURE() << sentence; });
}

// In a run that ends.
LifeResult finished_run(Misdeed misdeed, Protocol protocol = Protocol::kSimple) {
  FakeNet fake(misdeed, 17);
  Result<LifeResult> result = live_with(fake, short_run(protocol, 60));
  EXPECT_TRUE(result) << result.error().what;
  return result ? std::move(*result) : LifeResult{};
}

// In a run that cannot end.
std::string failure(Misdeed misdeed, Protocol protocol = Protocol::kSimple) {
  FakeNet fake(misdeed, 17);
  const Result<LifeResult> result = live_with(fake, short_run(protocol, 0.3));
  EXPECT_FALSE(result);
  return result ? std::string() : result.error().what;
}

TEST(AWrongByte, IsFoundWithItsPlace) {
  const LifeResult result = finished_run(Misdeed::kWrongByte);
  EXPECT_EQ(result.wrong_bytes, 1U);
  EXPECT_THAT(result.wrong,
              Contains(MatchesRegex("message 17 \\(4096 bytes, tag 0\\) on connection 0 "
                                    "\\(rank 0 to rank 1\\) has 1 wrong bytes of 4096; the first "
                                    "is byte 2048, .*")));
}

TEST(AWrongByte, IsFoundWhereTheReceiverLooksAtTheDataItself) {
  EXPECT_EQ(finished_run(Misdeed::kWrongByte, Protocol::kLl).wrong_bytes, 1U);
}

TEST(ALostMessage, IsWaitedForByName) {
  EXPECT_THAT(failure(Misdeed::kLoses),
              MatchesRegex("rank [01] has waited 0.3 s for message .*\\. At that time .*rank 1 "
                           "waits for message 17 \\(4096 bytes, tag 0\\) on connection 0 "
                           "\\(rank 0 to rank 1\\): irecv took its buffer, and test says that it "
                           "is not done; 17 of 40 receives are complete\\."));
}

TEST(ALostMessage, IsWaitedForWhereTheReceiverLooksAtTheDataItself) {
  EXPECT_THAT(failure(Misdeed::kLoses, Protocol::kLl128),
              HasSubstr("message 17 (4096 bytes, tag 0) on connection 0 (rank 0 to rank 1): test "
                        "says that it is done, and its data is not there"));
}

TEST(ADoubledMessage, LeavesTheLastOneWithoutAReceive) {
  EXPECT_THAT(failure(Misdeed::kDoubles), HasSubstr("rank 0 waits for message 39"));
}

TEST(SwappedMessages, AreRecognizedByTheirBytes) {
  const LifeResult result = finished_run(Misdeed::kSwaps);
  EXPECT_GT(result.wrong_bytes, 4096U);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("which belongs to message 18")));
  EXPECT_THAT(result.wrong, Contains(HasSubstr("which belongs to message 17")));
}

TEST(AReceive, ThatIsDoneBeforeItsDataIsFound) {
  const LifeResult result = finished_run(Misdeed::kReceivesEarly);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("which was never written")));
}

TEST(ASend, ThatIsDoneBeforeItWasReadIsFound) {
  const LifeResult result = finished_run(Misdeed::kSendsEarly);
  EXPECT_EQ(result.wrong.size(), 1U);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("message 17")));
  EXPECT_THAT(result.wrong, Contains(HasSubstr("0x5c")));
}

TEST(ALateWrite, IsFound) {
  const LifeResult result = finished_run(Misdeed::kWritesLate);
  EXPECT_EQ(result.wrong_bytes, 4096U);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("4096 bytes of the buffer for message 25")));
  EXPECT_THAT(result.wrong, Contains(HasSubstr("was written again after its end")));
}

TEST(AWriteBehindTheBuffer, IsFound) {
  const LifeResult result = finished_run(Misdeed::kWritesBehind);
  EXPECT_EQ(result.wrong_bytes, 1U);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("changed 0 bytes before its buffer and 1 bytes "
                                               "behind the 4096 that arrive")));
}

TEST(AWrongSize, IsFound) {
  const LifeResult result = finished_run(Misdeed::kWrongSize);
  EXPECT_EQ(result.wrong_bytes, 0U);
  EXPECT_THAT(result.wrong, Contains(HasSubstr("brought 4097 bytes, not 4096")));
}

TEST(AnErrorOfACall, NamesTheCallAndTheConnection) {
  EXPECT_THAT(failure(Misdeed::kFails),
              StartsWith("rank 0's progress thread: isend on connection 0 (rank 0 to rank 1) "
                         "returned remote error (6)."));
}

TEST(ARequestThatIsNotAssigned, IsFound) {
  EXPECT_THAT(failure(Misdeed::kForgetsRequest), HasSubstr("isend on connection 0"));
  EXPECT_THAT(failure(Misdeed::kForgetsRequest), HasSubstr("left *request as it was"));
}

TEST(ADoneThatIsNotAssigned, IsFound) {
  EXPECT_THAT(failure(Misdeed::kForgetsDone), HasSubstr("left *done as it was"));
}

TEST(ASendThatIsNeverDone, IsWaitedForByName) {
  EXPECT_THAT(failure(Misdeed::kNeverSent),
              HasSubstr("rank 0 waits for message 17 (4096 bytes, tag 0) to be sent on "
                        "connection 0 (rank 0 to rank 1): isend took it"));
}

TEST(ASendThatIsNeverTaken, IsWaitedForByName) {
  EXPECT_THAT(failure(Misdeed::kRefuses), HasSubstr("isend refuses it"));
}

TEST(AConnectionNobodyAccepts, IsWaitedForByName) {
  EXPECT_THAT(failure(Misdeed::kNeverAccepts),
              MatchesRegex("rank [01] has waited 0.3 s for (accept|connect) on connection 0 .*"));
}

TEST(AFlushThatIsNeverDone, IsWaitedForByName) {
  EXPECT_THAT(failure(Misdeed::kNeverFlushes), HasSubstr("its flush is not done"));
}

TEST(ACallThatDoesNotReturn, IsNamed) {
  for (const Threading threading : {Threading::kRounds, Threading::kThreads}) {
    FakeNet fake(Misdeed::kBlocks, 17);
    LifeSettings settings = short_run(Protocol::kSimple, 1);
    settings.threading = threading;
    std::string sentence;
    const Result<LifeResult> result =
        live(*fake.net(12), settings, Softverbs(), [&](const std::string& said) {
          sentence = said;
          fake.release();
        });
    EXPECT_FALSE(result);
    EXPECT_EQ(sentence,
              "rank 0's progress thread called isend and it has not returned for 1 s: the plugin "
              "blocks where NCCL expects an answer at once.");
  }
}

}  // namespace
}  // namespace rocelane::nccl_host
