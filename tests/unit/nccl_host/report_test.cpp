#include "nccl_host/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "nccl_host/expectations.h"

namespace rocelane::nccl_host {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

NetReport counted_net(const std::string& name, uint64_t writes_per_message) {
  LifeResult life;
  life.net_name = name;
  life.abi = 11;
  life.ranks = {{0, 0, "soft_0"}, {1, 1, "soft_1"}};
  life.senders.messages = 100;
  life.receivers.messages = 100;
  life.receivers.bytes = 6400;
  life.has_counters = true;
  life.devices["soft_0"].queue_pairs.writes_with_immediate = 100;
  life.devices["soft_0"].queue_pairs.send_posts = 100;
  life.devices["soft_1"].queue_pairs.writes = 100 * writes_per_message;
  life.devices["soft_1"].queue_pairs.send_posts = 100 * writes_per_message;
  life.devices["soft_1"].queue_pairs.receives = 100;
  NetReport report;
  report.path = "lib" + name + ".so";
  report.unloaded = true;
  report.lives = {life};
  return report;
}

TEST(Report, SetsCostsForEachMessageSideBySide) {
  const std::string text = text_report({}, {counted_net("One", 1), counted_net("Two", 2)});
  EXPECT_THAT(text, ContainsRegex("\n +One +Two\n"));
  EXPECT_THAT(text, ContainsRegex("\nsend work requests +2.000 +3.000\n"));
  EXPECT_THAT(text, ContainsRegex("\nsend post calls +2.000 +3.000\n"));
  EXPECT_THAT(text, ContainsRegex("\nreceive work requests +1.000 +1.000\n"));
  EXPECT_THAT(text, ContainsRegex("\nsender, instructions +n/a +n/a\n"));
  EXPECT_THAT(text, HasSubstr("Instructions are not counted"));
}

TEST(Report, SaysWhatItCannotCount) {
  NetReport net = counted_net("One", 1);
  net.lives.front().has_counters = false;
  const std::string text = text_report({}, {net});
  EXPECT_THAT(text, ContainsRegex("\npolls +n/a\n"));
  EXPECT_THAT(text, HasSubstr("libibverbs is not softverbs"));
}

TEST(Report, ShowsWhatWasWrongAndWhatWasLeftBehind) {
  NetReport net = counted_net("One", 1);
  EXPECT_TRUE(net.is_right());
  EXPECT_THAT(text_report({}, {net}), Not(HasSubstr("left behind")));
  net.lives.front().wrong = {"message 3 is wrong."};
  net.lives.front().wrong_bytes = 4;
  net.left_behind.queue_pairs = 2;
  const std::string text = text_report({}, {net});
  EXPECT_FALSE(net.is_right());
  EXPECT_THAT(text, ContainsRegex("\nwrong bytes +4\n"));
  EXPECT_THAT(text, HasSubstr("WRONG One: message 3 is wrong."));
  EXPECT_THAT(text, HasSubstr("One left behind after unloading: 2 queue pairs, 0 completion"));
}

TEST(Json, HasTheCountsOfEveryDevice) {
  const auto json = nlohmann::json::parse(json_report({}, {counted_net("One", 1)}));
  const auto& net = json.at("nets").at(0);
  EXPECT_EQ(net.at("name"), "One");
  EXPECT_EQ(net.at("ranks").at(1).at("device_name"), "soft_1");
  const auto& life = net.at("lives").at(0);
  EXPECT_EQ(life.at("wrong_bytes"), 0);
  EXPECT_EQ(life.at("receivers").at("messages"), 100);
  EXPECT_TRUE(life.at("receivers").at("instructions").is_null());
  EXPECT_EQ(life.at("devices").at("soft_1").at("writes"), 100);
  EXPECT_EQ(life.at("total").at("send_posts"), 200);
  EXPECT_EQ(net.at("left_behind").at("queue_pairs"), 0);
}

TEST(Expectations, AreComparedForEachMessage) {
  const NetReport net = counted_net("One", 1);
  const auto expected = [](const std::string& text) {
    return std::vector<Expectation>{*parse_expectation(text)};
  };
  EXPECT_TRUE(disappointments(expected("send_posts=2"), net).empty());
  EXPECT_TRUE(disappointments(expected("receives=0.5..1"), net).empty());
  EXPECT_TRUE(disappointments(expected("left_behind=0"), net).empty());
  EXPECT_THAT(disappointments(expected("send_requests=1"), net),
              testing::ElementsAre("One: send_requests is 2, expected 1 to 1."));
  NetReport uncounted = net;
  uncounted.lives.front().has_counters = false;
  EXPECT_THAT(disappointments(expected("left_behind=0"), uncounted),
              testing::ElementsAre(HasSubstr("libibverbs is not softverbs")));
}

TEST(Counters, AreDifferences) {
  softverbs_device_counters earlier{};
  softverbs_device_counters later{};
  earlier.polls = 10;
  later.polls = 25;
  later.queue_pairs.sends = 4;
  later.sent_bytes_by_traffic_class[255] = 7;
  const softverbs_device_counters result = difference(later, earlier);
  EXPECT_EQ(result.polls, 15U);
  EXPECT_EQ(result.queue_pairs.sends, 4U);
  EXPECT_EQ(result.sent_bytes_by_traffic_class[255], 7U);
}

TEST(LiveObjects, AreCountedOverAllDevices) {
  DeviceCounters before;
  before["soft_0"].live_queue_pairs = 1;
  DeviceCounters after = before;
  after["soft_0"].live_protection_domains = 2;
  after["soft_1"].live_queue_pairs = 3;
  const LiveObjects left = live_objects(after) - live_objects(before);
  EXPECT_EQ(left.queue_pairs, 3U);
  EXPECT_EQ(left.protection_domains, 2U);
  EXPECT_EQ(left.all(), 5U);
}

}  // namespace
}  // namespace rocelane::nccl_host
