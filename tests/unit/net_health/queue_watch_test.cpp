#include "net/health/queue_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::telemetry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A port of mlx5's kind: what is sent or received grows RDMA's counters and those of a priority.
class QueueWatchTest : public ::testing::Test {
 protected:
  QueueWatchTest() {
    rules_.lossless = 1U << 3;
    rules_.priority_of_dscp[26] = 3;
  }

  QueueSources sources() {
    return {[this](const std::string&) { return statistics(); },
            [this](const std::string&) -> Result<QueueRules> {
              ++questions_;
              return dcb_ ? Result<QueueRules>(rules_)
                          : Error{ErrorCode::kSystem, "DCB settings: Operation not supported"};
            }};
  }
  Result<std::vector<Statistic>> statistics() const {
    std::vector<Statistic> all{{"tx_packets", 1}};
    for (size_t i = 0; by_priority_ && i < kPriorities; ++i) {
      all.push_back({fmt::format("tx_prio{}_bytes", i), bytes_.sent.at(i)});
      all.push_back({fmt::format("rx_prio{}_bytes", i), bytes_.received.at(i)});
    }
    return all;
  }
  void send(size_t priority, uint64_t bytes) {
    bytes_.sent.at(priority) += bytes;
    rdma_sent_ += bytes;
  }
  void receive(size_t priority, uint64_t bytes) {
    bytes_.received.at(priority) += bytes;
    rdma_received_ += bytes;
  }
  // Ten seconds of looks; all that was found.
  std::vector<QueueFinding> look() {
    PortCounters counters;
    counters.set(PortCounter::kSentBytes, rdma_sent_);
    counters.set(PortCounter::kReceivedBytes, rdma_received_);
    std::vector<QueueFinding> findings;
    for (int second = 0; second < 10; ++second) {
      if (auto finding = watch_.look(counters)) {
        findings.push_back(std::move(*finding));
      }
    }
    return findings;
  }

  QueueRules rules_;
  PriorityBytes bytes_;
  uint64_t rdma_sent_ = 1000 * kMiB;
  uint64_t rdma_received_ = 1000 * kMiB;
  bool dcb_ = true;
  bool by_priority_ = true;
  int questions_ = 0;
  QueueWatch watch_{"mlx5_0", "eth1", sources()};
};

TEST_F(QueueWatchTest, AsksNothingBeforeAConnectionIsUp) {
  EXPECT_TRUE(look().empty());
  EXPECT_EQ(questions_, 0);
}

TEST_F(QueueWatchTest, SaysOnceThatDataAreInTheWrongPriority) {
  watch_.carries(104);
  watch_.carries(0);  // a later connection
  EXPECT_TRUE(look().empty());
  send(0, 64 * kMiB);
  const auto findings = look();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].is_wrong);
  EXPECT_THAT(findings[0].text, AllOf(HasSubstr("DSCP 26"), HasSubstr("counted in priority 0"),
                                      HasSubstr("PFC is on for 3"), HasSubstr("trust mode")));
  send(0, 640 * kMiB);
  EXPECT_TRUE(look().empty());
}

TEST_F(QueueWatchTest, IsSilentWhenAllIsWellAndThenAsksNoMore) {
  watch_.carries(104);
  look();
  send(3, 64 * kMiB);
  EXPECT_TRUE(look().empty());
  receive(3, 64 * kMiB);
  EXPECT_TRUE(look().empty());
  const int asked = questions_;
  EXPECT_EQ(asked, 3);
  send(0, 640 * kMiB);
  EXPECT_TRUE(look().empty());
  EXPECT_EQ(questions_, asked);
}

TEST_F(QueueWatchTest, JudgesWhatIsReceivedAlsoLongAfterWhatIsSent) {
  watch_.carries(104);
  look();
  send(3, 64 * kMiB);
  EXPECT_TRUE(look().empty());
  receive(0, 64 * kMiB);
  const auto findings = look();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, HasSubstr("received and counted in priority 0"));
}

TEST_F(QueueWatchTest, JudgesByThePfcThatIsOnNow) {
  watch_.carries(104);
  look();
  rules_.lossless = 1U << 5;  // somebody set it again
  send(3, 64 * kMiB);
  const auto findings = look();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, AllOf(HasSubstr("priority 3"), HasSubstr("PFC is on for 5")));
}

void expect_unknown(const std::vector<QueueFinding>& findings, const char* why) {
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_FALSE(findings[0].is_wrong);
  EXPECT_THAT(findings[0].text, AllOf(HasSubstr("mlx5_0 (eth1)"), HasSubstr(why)));
}

TEST_F(QueueWatchTest, SaysOnceWhatCannotBeRead) {
  watch_.carries(104);
  dcb_ = false;
  expect_unknown(look(), "Operation not supported");
  EXPECT_EQ(questions_, 1);
}

TEST_F(QueueWatchTest, SaysThatTheDriverDoesNotCountByPriority) {
  watch_.carries(104);
  by_priority_ = false;
  expect_unknown(look(), "does not count bytes by priority");
}

TEST_F(QueueWatchTest, SaysThatNoPriorityHasPfc) {
  watch_.carries(104);
  rules_.lossless = 0;
  expect_unknown(look(), "no priority has PFC");
}

TEST_F(QueueWatchTest, SaysThatThePortDoesNotCountRdma) {
  watch_.carries(104);
  const auto finding = watch_.look(PortCounters{});
  ASSERT_TRUE(finding.has_value());
  expect_unknown({*finding}, "does not count its RDMA bytes");
  EXPECT_TRUE(look().empty());
}

}  // namespace
}  // namespace rocelane::telemetry
