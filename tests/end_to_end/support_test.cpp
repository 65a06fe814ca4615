#include <gmock/gmock.h>

#include "nccl_log.h"
#include "resource_counts.h"

namespace rocelane::end_to_end {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

bool is_42(int thread_id) { return thread_id == 42; }

TEST(RdmaToolOutput, IsCountedForOwnThreadsAndForThreadsThatHaveEnded) {
  const Result<size_t> count = count_entries_of(
      R"([{"ifname":"rxe1","lqpn":1,"type":"GSI","comm":"ib_core"},
          {"ifname":"rxe1","lqpn":17,"type":"RC","state":"RTS","pid":42,"comm":"collperf"},
          {"ifname":"rxe2","lqpn":17,"type":"RC","state":"RTS"},
          {"ifname":"rxe2","lqpn":18,"type":"RC","state":"RTS","pid":43,"comm":"collperf"}])",
      is_42);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 2U);
}

TEST(RdmaToolOutput, ThatIsNoListIsAnErrorAndNotZero) {
  EXPECT_FALSE(count_entries_of("", is_42).ok());
  EXPECT_THAT(count_entries_of("Failed to open", is_42).error().what, HasSubstr("Failed to open"));
}

TEST(ResourceCounts, ShowAFileThatWasOpened) {
  const Result<ResourceCounts> before = count_resources();
  FILE* const file = fopen("/dev/null", "r");
  const Result<ResourceCounts> during = count_resources();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(fclose(file), 0);
  ASSERT_TRUE(before.ok() && during.ok());
  EXPECT_EQ(during->files, before->files + 1);
  EXPECT_EQ(*count_resources(), *before);
}

TEST(NcclLogText, TellsAlgorithmAndProtocolOfEachCollective) {
  const auto choices = count_choices(
      "host:1:1 [0] NCCL INFO AllReduce: 400 Bytes -> Algo TREE proto LL128 "
      "channel{Lo..Hi}={0..1}\n"
      "host:1:1 [0] NCCL INFO AllReduce: 12 Bytes -> Algo TREE proto LL128 channel{Lo..Hi}={0..0}\n"
      "host:1:1 [0] NCCL INFO Broadcast: 3 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..0}\n"
      "host:1:1 [0] NCCL INFO something else\n");
  EXPECT_THAT(choices, ElementsAre(Pair(TuningChoice{"AllReduce", "TREE", "LL128"}, 2),
                                   Pair(TuningChoice{"Broadcast", "RING", "SIMPLE"}, 1)));
}

TEST(NcclLogText, TellsTheNetworkOfEachCommunicator) {
  EXPECT_THAT(count_networks("host:1:1 [0] NCCL INFO Using network Rocelane\n"
                             "host:1:1 [0] NCCL INFO Using network IB\n"
                             "host:1:1 [0] NCCL INFO Using network IB\n"),
              ElementsAre(Pair("IB", 2), Pair("Rocelane", 1)));
}

}  // namespace
}  // namespace rocelane::end_to_end
