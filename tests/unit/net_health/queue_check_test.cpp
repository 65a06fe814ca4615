#include "net/health/queue_check.h"

#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::telemetry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint8_t kOnlyPriority3 = 1U << 3;

// As mlx5 lists them: bytes among packets and pauses.
std::vector<Statistic> mlx5_statistics() {
  std::vector<Statistic> all{{"rx_packets", 7}, {"tx_bytes_phy", 99}, {"rx_prio3_pause", 5}};
  for (uint64_t i = 0; i < kPriorities; ++i) {
    all.push_back({fmt::format("rx_prio{}_bytes", i), 100 + i});
    all.push_back({fmt::format("rx_prio{}_packets", i), 1});
    all.push_back({fmt::format("tx_prio{}_bytes", i), 200 + i});
    all.push_back({fmt::format("tx_prio{}_packets", i), 2});
  }
  return all;
}

std::vector<Statistic> statistics_spelt(std::string_view before, std::string_view after) {
  std::vector<Statistic> all;
  for (uint64_t i = 0; i < kPriorities; ++i) {
    all.push_back({fmt::format("rx{}{}{}", before, i, after), 100 + i});
    all.push_back({fmt::format("tx{}{}{}", before, i, after), 200 + i});
  }
  return all;
}

TEST(PriorityBytes, AreFoundUnderTheNamesOfEachDriver) {
  for (const auto& statistics : {mlx5_statistics(), statistics_spelt("_prio_", "_bytes"),
                                 statistics_spelt("_bytes_pri", "")}) {
    const auto bytes = priority_bytes(statistics);
    ASSERT_TRUE(bytes.has_value()) << statistics.back().name;
    EXPECT_EQ(bytes->received[3], 103U);
    EXPECT_EQ(bytes->sent[7], 207U);
  }
}

TEST(PriorityBytes, AreNotKnownFromPausesOrAnIncompleteList) {
  EXPECT_FALSE(priority_bytes({}).has_value());
  EXPECT_FALSE(priority_bytes(statistics_spelt("_priority_", "_xon.nic")).has_value());
  auto incomplete = mlx5_statistics();
  incomplete.pop_back();
  incomplete.pop_back();  // tx_prio7_bytes
  EXPECT_FALSE(priority_bytes(incomplete).has_value());
  for (const char* odd : {"tx_prio8_bytes", "tx_prio10_bytes", "tx_prio_bytes", "tx_prio", ""}) {
    incomplete.push_back({odd, 1});
  }
  EXPECT_FALSE(priority_bytes(incomplete).has_value());
}

class WrongQueue : public ::testing::Test {
 protected:
  WrongQueue() {
    rules_.lossless = kOnlyPriority3;
    // A port that has run for weeks: what counts is the growth.
    traffic_.before.received[0] = traffic_.after.received[0] = 88178050405854;
    traffic_.before.sent[0] = traffic_.after.sent[0] = 14056302074308;
  }
  void send(size_t priority, uint64_t bytes) { traffic_.after.sent[priority] += bytes; }
  void receive(size_t priority, uint64_t bytes) { traffic_.after.received[priority] += bytes; }
  std::string verdict(uint8_t traffic_class = 104) const {
    return wrong_queue({"mlx5_0", "eth1", traffic_class}, traffic_, rules_).value_or("");
  }

  QueueTraffic traffic_;
  QueueRules rules_;
};

TEST_F(WrongQueue, IsSaidOfDataSentInAPriorityWithoutPfc) {
  send(0, 65 * kMiB);
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_THAT(verdict(), AllOf(HasSubstr("mlx5_0 (eth1)"), HasSubstr("traffic class 104 (DSCP 26)"),
                               HasSubstr("sent and counted in priority 0"),
                               HasSubstr("PFC is on for 3"), HasSubstr("trust mode")));
}

TEST_F(WrongQueue, IsNotSaidOfDataInTheLosslessOne) {
  send(3, 65 * kMiB);
  receive(3, 65 * kMiB);
  traffic_.rdma_sent_bytes = traffic_.rdma_received_bytes = 64 * kMiB;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, IsNotSaidBeforeEnoughWasSent) {
  send(0, 64 * kMiB);
  traffic_.rdma_sent_bytes = 64 * kMiB - 1;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, IsNotSaidOfOtherTrafficBesideOurs) {
  send(3, 64 * kMiB);
  send(0, 5000 * kMiB);  // a backup over TCP
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, IsSaidOfWhatThePeerSendsElsewhere) {
  // One end marks, the other does not: out in 3, in by 0.
  send(3, 3800 * kMiB);
  send(0, 50 * kMiB);
  receive(0, 3900 * kMiB);
  traffic_.rdma_sent_bytes = 3800 * kMiB;
  traffic_.rdma_received_bytes = 3900 * kMiB;
  EXPECT_THAT(verdict(106),
              AllOf(HasSubstr("received and counted in priority 0"), HasSubstr("at the peer")));
}

TEST_F(WrongQueue, IsNotSaidWhereNoPriorityHasPfc) {
  rules_.lossless = 0;
  send(0, 65 * kMiB);
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, IsNotSaidWhereEveryPriorityHasPfc) {
  rules_.lossless = 0xff;
  send(0, 65 * kMiB);
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, IsNotSaidOfCountersThatWereReset) {
  traffic_.after.sent = {};
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_EQ(verdict(), "");
}

TEST_F(WrongQueue, ComesWithTheAdviceThatFitsTheMap) {
  send(0, 65 * kMiB);
  traffic_.rdma_sent_bytes = 64 * kMiB;
  EXPECT_THAT(verdict(), HasSubstr("set ROCELANE_TRAFFIC_CLASS"));
  rules_.priority_of_dscp[26] = 3;
  EXPECT_THAT(verdict(), HasSubstr("DSCP 26 is mapped to priority 3, so check that eth1 trusts"));
  rules_.priority_of_dscp[26] = 0;
  EXPECT_THAT(verdict(), HasSubstr("DSCP 26 is mapped to priority 0: turn PFC on there"));
}

}  // namespace
}  // namespace rocelane::telemetry
