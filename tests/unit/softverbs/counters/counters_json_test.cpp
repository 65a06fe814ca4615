#include "softverbs/counters/counters_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rocelane::softverbs {
namespace {

using Json = nlohmann::ordered_json;

RunReport run_of_one_device() {
  RunReport report{.run = "a-run", .seed = 7, .time_ns = 12, .devices = {}, .links = {}};
  DeviceReport device;
  device.name = "host1/soft_0";
  device.counters.polls = 30;
  device.counters.queue_pairs.writes = 4;
  device.counters.sent_bytes_by_traffic_class[106] = 1000;
  device.counters.sent_bytes_by_traffic_class[255] = 1;
  QueuePairReport queue_pair;
  queue_pair.number = 17;
  queue_pair.peer_device = "host2/soft_0";
  queue_pair.peer_number = 18;
  queue_pair.udp_source_port = 50000;
  queue_pair.traffic_class = 106;
  queue_pair.path = {"host1/soft_0>leaf1", "leaf1>host2/soft_0"};
  queue_pair.counters.sent_bytes = 1000;
  device.queue_pairs.push_back(queue_pair);
  report.devices.push_back(device);
  LinkReport link;
  link.name = "leaf1>spine1";
  link.counters.bytes = 900;
  link.counters.bytes_by_priority[3] = 900;
  report.links.push_back(link);
  return report;
}

TEST(CountersJson, ARunHasDevicesAndLinks) {
  const Json json = counters_json(run_of_one_device());
  EXPECT_EQ(json["run"], "a-run");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["time_ns"], 12);
  EXPECT_EQ(json["devices"].size(), 1U);
  EXPECT_EQ(json["links"].size(), 1U);
}

TEST(CountersJson, ADeviceHasItsCountersAndTheWorkOfItsQueuePairs) {
  const Json device = counters_json(run_of_one_device())["devices"][0];
  EXPECT_EQ(device["name"], "host1/soft_0");
  EXPECT_EQ(device["counters"]["polls"], 30);
  EXPECT_EQ(device["work"]["writes"], 4);
}

TEST(CountersJson, OnlyTrafficClassesThatWereUsedAreListed) {
  const Json device = counters_json(run_of_one_device())["devices"][0];
  EXPECT_EQ(device["sent_bytes_by_traffic_class"], Json({{"106", 1000}, {"255", 1}}));
}

TEST(CountersJson, AQueuePairHasItsPeerAndItsPath) {
  const Json queue_pair = counters_json(run_of_one_device())["devices"][0]["queue_pairs"][0];
  EXPECT_EQ(queue_pair["number"], 17);
  EXPECT_EQ(queue_pair["peer_device"], "host2/soft_0");
  EXPECT_EQ(queue_pair["udp_source_port"], 50000);
  EXPECT_EQ(queue_pair["path"], Json::array({"host1/soft_0>leaf1", "leaf1>host2/soft_0"}));
  EXPECT_EQ(queue_pair["counters"]["sent_bytes"], 1000);
}

TEST(CountersJson, ALinkHasItsBytesByPriority) {
  const Json link = counters_json(run_of_one_device())["links"][0];
  EXPECT_EQ(link["name"], "leaf1>spine1");
  EXPECT_EQ(link["counters"]["bytes"], 900);
  EXPECT_EQ(link["bytes_by_priority"], Json({{"3", 900}}));
}

TEST(CountersJson, AnEmptyRunIsStillAnObjectWithLists) {
  const Json json = counters_json({});
  EXPECT_TRUE(json["devices"].is_array());
  EXPECT_TRUE(json["links"].is_array());
}

}  // namespace
}  // namespace rocelane::softverbs
