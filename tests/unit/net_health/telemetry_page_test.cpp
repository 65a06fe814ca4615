#include "net/health/telemetry_page.h"

#include <cstring>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support.h"

namespace rocelane::telemetry {
namespace {

using testing::HasSubstr;

TEST(TelemetryPage, ShowsWhatWasRecorded) {
  const TemporaryDirectory directory;
  const auto page = TelemetryPage::create(settings_in(directory), {},
                                          {.monotonic_ns = 1'000, .wall_minus_monotonic_ns = -5});
  page->set_rank(12);
  page->set_time({.monotonic_ns = 2'000, .wall_minus_monotonic_ns = -7});
  auto port = page->claim_port({.device = "mlx5_3", .interface = "eth3", .port_number = 2});
  port.set_state(PortState::kActive, 400'000);
  PortCounters counters;
  counters.set(PortCounter::kOutOfSequence, 17);
  counters.set(PortCounter::kLinkDowns, 0);
  port.set_counters(counters, 1'500);
  auto connection = page->claim_connection({.port = port.name(),
                                            .direction = Direction::kSend,
                                            .peer_host = "gpu-7",
                                            .peer_device = "mlx5_4"});
  connection.set_state(ConnectionState::kReady);
  auto lane = page->claim_lane({.connection = connection.name(),
                                .port = port.name(),
                                .number = 1,
                                .local_queue_pair = 0x1a3,
                                .remote_queue_pair = 0x1a4,
                                .flow_label = 0xfffff,
                                .udp_source_port = 51'234,
                                .traffic_class = 106,
                                .round_trip_ns = 7'500});
  lane.set_state(LaneState::kReady);
  lane.completed(65'536, 20'000);
  lane.completed(4'096);
  lane.failed();
  lane.moved_to(3, 49'152);
  connection.completed(69'632);

  const PageReading reading = reading_of(*page);
  EXPECT_EQ(reading.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(reading.rank, 12);
  EXPECT_TRUE(reading.owner_is_running);
  EXPECT_EQ(reading.created_monotonic_ns, 1'000U);
  EXPECT_EQ(reading.updated_monotonic_ns, 2'000U);
  EXPECT_EQ(reading.wall_minus_monotonic_ns, -7);

  ASSERT_EQ(reading.ports.size(), 1U);
  EXPECT_EQ(reading.ports[0].device, "mlx5_3");
  EXPECT_EQ(reading.ports[0].interface, "eth3");
  EXPECT_EQ(reading.ports[0].port_number, 2U);
  EXPECT_EQ(reading.ports[0].state, PortState::kActive);
  EXPECT_EQ(reading.ports[0].speed_mbps, 400'000U);
  EXPECT_EQ(reading.ports[0].sampled_monotonic_ns, 1'500U);
  const auto counter = [&](PortCounter which) {
    return reading.ports[0].counters[static_cast<size_t>(which)];
  };
  EXPECT_EQ(counter(PortCounter::kOutOfSequence), 17U);
  EXPECT_EQ(counter(PortCounter::kLinkDowns), 0U);
  EXPECT_EQ(counter(PortCounter::kPausesSent), std::nullopt);

  ASSERT_EQ(reading.connections.size(), 1U);
  EXPECT_EQ(reading.connections[0].port.index, reading.ports[0].slot.index);
  EXPECT_EQ(reading.connections[0].direction, Direction::kSend);
  EXPECT_EQ(reading.connections[0].state, ConnectionState::kReady);
  EXPECT_EQ(reading.connections[0].peer_host, "gpu-7");
  EXPECT_EQ(reading.connections[0].peer_device, "mlx5_4");
  EXPECT_EQ(reading.connections[0].peer_rank, kNone);
  EXPECT_EQ(reading.connections[0].traffic.bytes, 69'632U);
  EXPECT_EQ(reading.connections[0].traffic.messages, 1U);

  ASSERT_EQ(reading.lanes.size(), 1U);
  EXPECT_EQ(reading.lanes[0].connection.index, reading.connections[0].slot.index);
  EXPECT_EQ(reading.lanes[0].connection.life, reading.connections[0].slot.life);
  EXPECT_EQ(reading.lanes[0].number, 1U);
  EXPECT_EQ(reading.lanes[0].kind, LaneKind::kData);
  EXPECT_EQ(reading.lanes[0].state, LaneState::kReady);
  EXPECT_EQ(reading.lanes[0].local_queue_pair, 0x1a3U);
  EXPECT_EQ(reading.lanes[0].traffic_class, 106U);
  EXPECT_EQ(reading.lanes[0].flow_label, 3U);
  EXPECT_EQ(reading.lanes[0].udp_source_port, 49'152U);
  EXPECT_EQ(reading.lanes[0].path_changes, 1U);
  EXPECT_EQ(reading.lanes[0].round_trip_ns, 7'500U);
  EXPECT_EQ(reading.lanes[0].traffic.bytes, 69'632U);
  EXPECT_EQ(reading.lanes[0].traffic.messages, 2U);
  EXPECT_EQ(reading.lanes[0].traffic.errors, 1U);
  EXPECT_EQ(reading.lanes[0].latency.count(), 1U);
  EXPECT_NEAR(static_cast<double>(*reading.lanes[0].latency.quantile(0.5)), 20e3, 640);
}

TEST(TelemetryPage, GivesASlotANewLifeAndNothingOfTheOldOne) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory);
  auto lane = page->claim_lane({.flow_label = 5});
  lane.completed(100, 1'000);
  const PageReading before = reading_of(*page);
  lane = {};
  EXPECT_TRUE(reading_of(*page).lanes.empty());
  lane = page->claim_lane({.flow_label = 6});
  const PageReading after = reading_of(*page);
  ASSERT_EQ(after.lanes.size(), 1U);
  EXPECT_EQ(after.lanes[0].slot.index, before.lanes[0].slot.index);
  EXPECT_NE(after.lanes[0].slot.life, before.lanes[0].slot.life);
  EXPECT_EQ(after.lanes[0].traffic.messages, 0U);
  EXPECT_EQ(after.lanes[0].latency.count(), 0U);
}

TEST(TelemetryPage, CountsWhatItCannotShow) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory, {.ports = 1, .connections = 2, .lanes = 3});
  std::vector<LaneRecorder> lanes;
  for (uint32_t i = 0; i < 5; ++i) {
    lanes.push_back(page->claim_lane({.number = i}));
    lanes.back().completed(1, 1'000);
  }
  const auto first = page->claim_port({.device = "a"});
  const auto second = page->claim_port({.device = "b"});
  PageReading reading = reading_of(*page);
  EXPECT_EQ(reading.lanes.size(), 3U);
  EXPECT_EQ(reading.lanes_not_shown, 2U);
  EXPECT_EQ(reading.ports_not_shown, 1U);
  EXPECT_EQ(reading.connections_not_shown, 0U);
  EXPECT_EQ(second.name().index, kNone);
  for (const LaneReading& lane : reading.lanes) {
    EXPECT_EQ(lane.traffic.messages, 1U);
  }
  lanes.clear();
  reading = reading_of(*page);
  EXPECT_EQ(reading.lanes.size(), 0U);
  EXPECT_EQ(reading.lanes_not_shown, 0U);
}

TEST(TelemetryPage, ShowsAsManyAsItPromises) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory);
  std::vector<LaneRecorder> lanes;
  for (uint32_t i = 0; i < Capacities{}.lanes; ++i) {
    lanes.push_back(page->claim_lane({.number = i}));
    lanes.back().completed(i);
  }
  const PageReading reading = reading_of(*page);
  ASSERT_EQ(reading.lanes.size(), 4096U);
  EXPECT_EQ(reading.lanes_not_shown, 0U);
  EXPECT_EQ(reading.lanes.back().traffic.bytes, reading.lanes.back().number);
}

TEST(TelemetryPage, CutsLongNamesAndKeepsFullOnes) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory);
  const std::string name(64, 'h');
  const auto fits = page->claim_connection({.peer_host = name});
  const auto longer = page->claim_connection({.peer_host = name + "-and-more"});
  const PageReading reading = reading_of(*page);
  EXPECT_EQ(reading.connections[0].peer_host, name);
  EXPECT_EQ(reading.connections[1].peer_host, name);
}

TEST(TelemetryPage, TakesStorageOnlyForWhatIsClaimed) {
  const TemporaryDirectory directory;
  off_t reserved = 0;
  Surroundings surroundings;
  surroundings.reserve = [&](int descriptor, off_t offset, off_t length) {
    reserved += length;
    return reserve_storage(descriptor, offset, length);
  };
  const auto page = TelemetryPage::create(settings_in(directory), surroundings, {});
  EXPECT_LE(reserved, 4096);
  const auto lane = page->claim_lane({});
  EXPECT_LE(reserved, 128 * 1024);
}

TEST(TelemetryPage, MayGoBeforeItsRecorders) {
  const TemporaryDirectory directory;
  LaneRecorder lane;
  {
    const auto page = page_in(directory);
    lane = page->claim_lane({});
  }
  EXPECT_EQ(directory.file_count(), 0U);
  lane.completed(1, 1'000);
  lane.set_state(LaneState::kFailed);
}

TEST(TelemetryPage, HiddenOneTakesEverythingAndMakesNoFile) {
  const auto page = TelemetryPage::hidden({}, {});
  EXPECT_EQ(page->path(), nullptr);
  EXPECT_FALSE(page->why_hidden().has_value());
  page->set_rank(3);
  page->set_time({});
  auto port = page->claim_port({.device = "mlx5_0"});
  port.set_state(PortState::kDown, 0);
  port.set_counters({}, 1);
  auto connection = page->claim_connection({.port = port.name()});
  connection.completed(1);
  auto lane = page->claim_lane({.connection = connection.name()});
  lane.completed(1, 1'000);
}

TEST(Recorders, ThatWereNeverClaimedTakeEverything) {
  PortRecorder port;
  port.set_state(PortState::kActive, 1);
  port.set_counters({}, 1);
  ConnectionRecorder connection;
  connection.completed(1);
  connection.failed();
  connection.set_state(ConnectionState::kReady);
  LaneRecorder lane;
  lane.completed(1, 1'000);
  lane.moved_to(1, 2);
  LaneRecorder moved = std::move(lane);
  moved.completed(1);
  lane.completed(1);  // NOLINT: moved-from recorders are empty ones
  EXPECT_EQ(connection.name().index, kNone);
}

TEST(TelemetryPage, SaysWhereAndWhyItIsHidden) {
  const auto page =
      TelemetryPage::create({.directory = "/nowhere/at/all", .capacities = {}}, {}, {});
  EXPECT_EQ(page->path(), nullptr);
  ASSERT_TRUE(page->why_hidden().has_value());
  EXPECT_THAT(page->why_hidden()->what, HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(page->why_hidden()->what, HasSubstr("No such file or directory"));
  auto lane = page->claim_lane({});
  lane.completed(1, 1'000);
}

}  // namespace
}  // namespace rocelane::telemetry
