// Set-up threads claim, progress threads count, the sampling thread samples and somebody reads, all
// at once. Under ThreadSanitizer this also proves that the data path shares nothing unguarded.

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support.h"

namespace rocelane::telemetry {
namespace {

constexpr int kThreads = 4;
constexpr int kConnections = 60;
constexpr uint64_t kMessages = 500;

void live_through_connections(TelemetryPage& page, const std::vector<LaneRecorder*>& kept) {
  for (int i = 0; i < kConnections; ++i) {
    auto connection = page.claim_connection({.direction = Direction::kSend, .peer_host = "gpu-1"});
    auto lane = page.claim_lane({.connection = connection.name()});
    LaneRecorder unclaimed;
    for (uint64_t message = 0; message < kMessages; ++message) {
      lane.completed(message, 1'000 * message);
      connection.completed(message);
      unclaimed.completed(message, 1'000);
      for (LaneRecorder* other : kept) {
        other->completed(1, 1'000);
      }
    }
    lane.set_state(LaneState::kFailed);
  }
}

TEST(TelemetryThreads, CountEveryMessageOfEveryLane) {
  const TemporaryDirectory directory;
  // Fewer lanes than there are threads: some find no slot.
  const auto page = page_in(directory, {.ports = 2, .connections = 64, .lanes = kThreads + 2});
  auto port = page->claim_port({.device = "mlx5_0"});
  std::vector<LaneRecorder> kept;
  for (uint32_t i = 0; i < kThreads; ++i) {
    kept.push_back(page->claim_lane({.number = i}));
  }
  std::atomic<bool> stop{false};
  std::thread sampler([&] {
    for (uint64_t now = 1; !stop; ++now) {
      PortCounters counters;
      counters.set(PortCounter::kOutOfSequence, now);
      port.set_counters(counters, now);
      port.set_state(PortState::kActive, now);
      page->set_time({.monotonic_ns = now, .wall_minus_monotonic_ns = 0});
      for (LaneRecorder& lane : kept) {
        lane.set_state(LaneState::kReady);
        lane.set_round_trip(now);
      }
    }
  });
  std::thread reader([&] {
    const TelemetryReader open_page = reader_of(*page);
    while (!stop) {
      EXPECT_TRUE(open_page.read().ok());
    }
  });
  std::vector<std::thread> workers;
  for (auto& lane : kept) {
    workers.emplace_back([&page, &lane] { live_through_connections(*page, {&lane}); });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  stop = true;
  sampler.join();
  reader.join();

  const PageReading reading = reading_of(*page);
  EXPECT_TRUE(reading.connections.empty());
  EXPECT_EQ(reading.lanes_not_shown, 0U);
  ASSERT_EQ(reading.lanes.size(), static_cast<size_t>(kThreads));
  for (const LaneReading& lane : reading.lanes) {
    EXPECT_EQ(lane.traffic.messages, kConnections * kMessages);
    EXPECT_EQ(lane.latency.count(), kConnections * kMessages);
  }
}

}  // namespace
}  // namespace rocelane::telemetry
