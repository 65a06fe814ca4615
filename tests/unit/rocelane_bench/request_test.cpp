#include "bench/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rocelane::bench {
namespace {

using testing::ElementsAre;

template <class T>
T through_json(const T& value) {
  return Json::parse(Json(value).dump()).get<T>();
}

TEST(WorkerLanguage, CarriesSettings) {
  SessionSettings settings;
  settings.net = {"ib", 11, "libx.so"};
  settings.devices = {"a+b", "c"};
  settings.rails = 2;
  settings.whole_fabric = nccl_host::Traffic::kAllToAll;
  settings.whole_fabric_bytes = 17;
  settings.connections = {{{0, 1}, 8}, {{1, 0}, 4096}};
  settings.window = 4;
  settings.traffic_class = 106;
  settings.patience_s = 2.5;
  settings.fabric = "[hosts]\n\"count\" = 2\n";
  settings.seed = 99;
  settings.profile_folder = "/tmp/x";
  settings.keep_profiles = "/tmp/y";
  const SessionSettings arrived = through_json(settings);
  EXPECT_EQ(arrived.net.plugin, "ib");
  EXPECT_EQ(arrived.net.abi, 11);
  EXPECT_EQ(arrived.net.nccl_library, "libx.so");
  EXPECT_EQ(arrived.devices, settings.devices);
  EXPECT_EQ(arrived.rails, 2);
  EXPECT_EQ(arrived.whole_fabric, settings.whole_fabric);
  EXPECT_EQ(arrived.whole_fabric_bytes, 17U);
  ASSERT_EQ(arrived.connections.size(), 2U);
  EXPECT_EQ(arrived.connections[1].route, (nccl_host::Route{1, 0}));
  EXPECT_EQ(arrived.connections[1].largest_bytes, 4096U);
  EXPECT_EQ(arrived.window, 4);
  EXPECT_EQ(arrived.traffic_class, 106);
  EXPECT_EQ(arrived.patience_s, 2.5);
  EXPECT_EQ(arrived.fabric, settings.fabric);
  EXPECT_EQ(arrived.seed, 99U);
  EXPECT_EQ(arrived.profile_folder, "/tmp/x");
  EXPECT_EQ(arrived.keep_profiles, "/tmp/y");
}

TEST(WorkerLanguage, KnowsWhatIsNotThere) {
  const SessionSettings settings = through_json(SessionSettings());
  EXPECT_FALSE(settings.whole_fabric);
  EXPECT_FALSE(settings.fabric);
  const Answer answer = through_json(Answer());
  EXPECT_FALSE(answer.counts);
  EXPECT_FALSE(answer.instructions);
}

TEST(WorkerLanguage, CarriesRequestsAndAnswers) {
  Request request;
  request.what = Measurement::kPingPong;
  request.bytes = 3;
  request.messages = 4;
  request.connections = 5;
  request.ping = 6;
  request.pong = 7;
  request.load_bytes = 8;
  request.one_thread = true;
  request.count_instructions = true;
  const Request asked = through_json(request);
  EXPECT_EQ(Json(asked), Json(request));
  Answer answer;
  answer.seconds = 0.25;
  answer.round_trips_us = {1.5, 2};
  answer.counts = Counts{1, 2, 3, 4, 5, 6, 7};
  answer.instructions = Instructions{10, 20, 30};
  const Answer arrived = through_json(answer);
  EXPECT_EQ(arrived.seconds, 0.25);
  EXPECT_THAT(arrived.round_trips_us, ElementsAre(1.5, 2));
  ASSERT_TRUE(arrived.counts);
  EXPECT_EQ(arrived.counts->receive_posts, 4U);
  EXPECT_EQ(arrived.counts->empty_polls, 7U);
  ASSERT_TRUE(arrived.instructions);
  EXPECT_EQ(arrived.instructions->others, 30U);
}

}  // namespace
}  // namespace rocelane::bench
