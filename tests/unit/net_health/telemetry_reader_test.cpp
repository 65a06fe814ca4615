#include "net/health/telemetry_reader.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/health/counting.h"
#include "support.h"

namespace rocelane::telemetry {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Clock = std::chrono::steady_clock;

// How much has to be seen, and how long a busy machine may take to show it.
constexpr size_t kEnough = 50;
constexpr auto kPatience = std::chrono::seconds(30);

// Life after life in one slot, all fields of which tell its number.
int claim_and_release(const TemporaryDirectory& directory) {
  const auto page = page_in(directory, {.ports = 1, .connections = 1, .lanes = 1});
  if (page->path() == nullptr) {
    return 1;
  }
  for (uint32_t life = 1;; ++life) {
    const std::string name = fmt::format("host-{}", life);
    const auto connection =
        page->claim_connection({.peer_host = name, .peer_device = name, .peer_rank = life});
    auto lane = page->claim_lane({.connection = connection.name(),
                                  .number = life,
                                  .local_queue_pair = life,
                                  .remote_queue_pair = life,
                                  .round_trip_ns = life});
    for (int i = 0; i < 1'000; ++i) {
      lane.completed(life, 1'000);
    }
  }
}

TEST(TwoProcesses, NeverMixTwoLivesOfASlot) {
  const TemporaryDirectory directory;
  Child writer([&] { return claim_and_release(directory); });
  Result<TelemetryReader> reader = TelemetryReader::open(directory.path(), geteuid(), writer.pid());
  const auto end = Clock::now() + kPatience;
  while (!reader.ok() && Clock::now() < end) {
    reader = TelemetryReader::open(directory.path(), geteuid(), writer.pid());
  }
  ASSERT_TRUE(reader.ok()) << reader.error().what;
  std::map<uint64_t, uint64_t> bytes_of_life;
  while (bytes_of_life.size() < kEnough && Clock::now() < end) {
    const Result<PageReading> page = reader->read();
    if (!page.ok()) {
      // Between the file's creation and its last byte.
      ASSERT_THAT(page.error().what, HasSubstr("no readable telemetry page"));
      ASSERT_THAT(bytes_of_life, IsEmpty());
      continue;
    }
    for (const ConnectionReading& connection : page->connections) {
      EXPECT_EQ(connection.peer_host, fmt::format("host-{}", connection.peer_rank));
      EXPECT_EQ(connection.peer_device, connection.peer_host);
    }
    for (const LaneReading& lane : page->lanes) {
      EXPECT_EQ(lane.local_queue_pair, lane.number);
      EXPECT_EQ(lane.remote_queue_pair, lane.number);
      EXPECT_EQ(lane.round_trip_ns, lane.number);
      EXPECT_EQ(lane.traffic.bytes % lane.number, 0U);
      EXPECT_LE(lane.traffic.bytes, lane.number * uint64_t{1'000});
      EXPECT_LE(lane.latency.count(), 1'000U);
      uint64_t& bytes = bytes_of_life[lane.slot.life];
      EXPECT_GE(lane.traffic.bytes, bytes);
      bytes = lane.traffic.bytes;
    }
    if (HasFailure()) {
      break;
    }
  }
  writer.kill();
  writer.wait();
  EXPECT_EQ(bytes_of_life.size(), kEnough);
  EXPECT_FALSE(reader->read()->owner_is_running);
}

// What readers rely on and no standard promises: the kernel copies an aligned counter whole.
TEST(TwoProcesses, NeverTearACounter) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory);
  const FileDescriptor file(open(page->path()->c_str(), O_RDWR | O_CLOEXEC));
  Child writer([&] {
    void* memory =
        mmap(nullptr, sizeof(PageHeader), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) {
      return 1;
    }
    auto* counter = static_cast<uint64_t*>(memory) + offsetof(PageHeader, created_monotonic_ns) / 8;
    for (;;) {  // all bytes change at once
      publish(*counter, uint64_t{0});
      publish(*counter, UINT64_MAX);
    }
  });
  size_t changes = 0;
  uint64_t last = 0;
  for (const auto end = Clock::now() + kPatience; changes < kEnough && Clock::now() < end;) {
    PageHeader header{};
    ASSERT_EQ(pread(file.get(), &header, sizeof(header), 0), ssize_t{sizeof(header)});
    const uint64_t value = header.created_monotonic_ns;
    ASSERT_TRUE(value == 0 || value == UINT64_MAX) << std::hex << value;
    changes += value != last ? 1 : 0;
    last = value;
  }
  writer.kill();
  EXPECT_EQ(changes, kEnough);
}

TEST(TelemetryReader, ListsThePagesOfAUser) {
  const TemporaryDirectory directory;
  const auto page = page_in(directory);
  const auto pages = list_pages(directory.path(), geteuid());
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].path, *page->path());
  EXPECT_EQ(pages[0].pid, static_cast<uint32_t>(getpid()));
  EXPECT_THAT(list_pages(directory.path(), geteuid() + 1), IsEmpty());
  EXPECT_THAT(list_pages("/nowhere/at/all", geteuid()), IsEmpty());
}

TEST(TelemetryReader, SaysWhichProcessHasNoPage) {
  const TemporaryDirectory directory;
  const auto reader = TelemetryReader::open(directory.path(), geteuid(), 4'711);
  ASSERT_FALSE(reader.ok());
  EXPECT_THAT(reader.error().what, HasSubstr("Process 4711"));
  EXPECT_THAT(reader.error().what, HasSubstr(directory.path()));
}

TEST(TelemetryReader, PrefersThePageInUseOverALeftover) {
  const TemporaryDirectory directory;
  const auto pid = static_cast<uint32_t>(getpid());
  auto left = page_in(directory);
  const auto used = page_in(directory);
  used->set_rank(2);
  // What the first page leaves behind when it is killed.
  const std::string path = *left->path();
  std::filesystem::copy_file(path, path + ".copy");
  left.reset();
  std::filesystem::rename(path + ".copy", path);
  chmod(path.c_str(), 0600);
  const auto reader = TelemetryReader::open(directory.path(), geteuid(), pid);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->read()->rank, 2);
}

TEST(TelemetryReader, KeepsReadingAPageWhoseOwnerEnded) {
  const TemporaryDirectory directory;
  auto page = page_in(directory);
  auto lane = page->claim_lane({});
  lane.completed(5);
  const TelemetryReader reader = reader_of(*page);
  lane = {};
  page.reset();
  const auto reading = reader.read();
  ASSERT_TRUE(reading.ok());
  EXPECT_THAT(reading->lanes, IsEmpty());
}

TableDescription table(uint32_t slot_bytes, uint32_t slots) {
  TableDescription description{};
  description.offset = sizeof(PageHeader);
  description.slot_bytes = slot_bytes;
  description.capacity = slots;
  description.slots_backed = slots;
  return description;
}

// A page as version 2 might write it: slots with something appended.
TEST(TelemetryReader, ReadsPagesWithLongerSlots) {
  const TemporaryDirectory directory;
  constexpr uint32_t kLonger = sizeof(LaneSlot) + 128;
  PageHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion + 1;
  header.oldest_reader = kOldestReader;
  header.header_bytes = sizeof(header);
  header.table_count = 3;
  header.owner = read_own_facts();
  header.latency_first_power = kLatencyFirstPower;
  header.latency_powers = kLatencyPowers;
  header.latency_steps = kLatencySteps;
  header.ports = table(sizeof(PortSlot), 0);
  header.connections = table(sizeof(ConnectionSlot), 0);
  header.lanes = table(kLonger, 2);
  header.page_bytes = 512 + 2 * kLonger;
  std::vector<char> bytes(header.page_bytes, 'x');
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (uint32_t i = 0; i < 2; ++i) {
    LaneSlot slot{};
    slot.sequence = 6;
    slot.number = i + 1;
    std::memcpy(bytes.data() + 512 + i * kLonger, &slot, sizeof(slot));
  }
  const std::string path = directory.path() + "/page";
  std::ofstream(path).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  chmod(path.c_str(), 0600);
  const auto reading = TelemetryReader::open_file(path, geteuid())->read();
  ASSERT_TRUE(reading.ok()) << reading.error().what;
  ASSERT_EQ(reading->lanes.size(), 2U);
  EXPECT_EQ(reading->lanes[1].number, 2U);
  EXPECT_EQ(reading->lanes[1].slot.life, 1U);
}

}  // namespace
}  // namespace rocelane::telemetry
