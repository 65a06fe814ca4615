// Pages that no writer of ours made: the reader refuses or reads on, and never crashes.

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

namespace rocelane::telemetry {
namespace {

using testing::HasSubstr;

class HostilePage : public testing::Test {
 protected:
  HostilePage() {
    const auto page = page_in(directory_, {.ports = 2, .connections = 2, .lanes = 2});
    const auto port = page->claim_port({.device = "mlx5_0"});
    const auto connection = page->claim_connection({.port = port.name(), .peer_host = "gpu-1"});
    const auto lane = page->claim_lane({.connection = connection.name()});
    std::ifstream file(*page->path());
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  PageHeader header() const {
    PageHeader header{};
    std::memcpy(&header, bytes_.data(), sizeof(header));
    return header;
  }

  Result<PageReading> read(const std::vector<char>& bytes) const {
    const std::string path = directory_.path() + "/page";
    std::ofstream(path).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    chmod(path.c_str(), 0600);
    auto reader = TelemetryReader::open_file(path, geteuid());
    return reader.ok() ? reader->read() : Result<PageReading>(std::move(reader).error());
  }

  Result<PageReading> read_changed(const std::function<void(PageHeader&)>& change) const {
    std::vector<char> bytes = bytes_;
    PageHeader changed = header();
    change(changed);
    std::memcpy(bytes.data(), &changed, sizeof(changed));
    return read(bytes);
  }

  std::string refusal(const std::function<void(PageHeader&)>& change) const {
    const auto reading = read_changed(change);
    return reading.ok() ? "was read" : reading.error().what;
  }

  TemporaryDirectory directory_;
  std::vector<char> bytes_;
};

TEST_F(HostilePage, IsReadWhenNothingIsWrongWithIt) {
  const auto reading = read(bytes_);
  ASSERT_TRUE(reading.ok()) << reading.error().what;
  EXPECT_EQ(reading->lanes.size(), 1U);
}

TEST_F(HostilePage, IsRefusedWithTheReason) {
  EXPECT_THAT(refusal([](PageHeader& h) { h.magic[0] = 'X'; }), HasSubstr("mark"));
  EXPECT_THAT(refusal([](PageHeader& h) { h.version = 0; }), HasSubstr("version 0"));
  EXPECT_THAT(refusal([](PageHeader& h) { h.oldest_reader = 2; }), HasSubstr("newer Rocelane"));
  EXPECT_THAT(refusal([](PageHeader& h) { h.page_bytes = 1 << 30; }), HasSubstr("1073741824"));
  EXPECT_THAT(refusal([](PageHeader& h) { h.latency_steps = 8; }), HasSubstr("another shape"));
  EXPECT_THAT(refusal([](PageHeader& h) { h.owner.uid += 1; }), HasSubstr("belongs to user"));
}

TEST_F(HostilePage, IsRefusedWhenATableLeavesIt) {
  const std::vector<std::function<void(TableDescription&)>> changes{
      [](TableDescription& t) { t.offset = 0; },
      [](TableDescription& t) { t.offset = 513; },
      [](TableDescription& t) { t.offset = UINT64_MAX - 7; },
      [](TableDescription& t) { t.capacity = 16'000; },
      [](TableDescription& t) { t.capacity = UINT32_MAX; },
      [](TableDescription& t) { t.slot_bytes = 0; },
      [](TableDescription& t) { t.slot_bytes -= 8; },
      [](TableDescription& t) { t.slot_bytes = UINT32_MAX; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    for (auto table : {&PageHeader::ports, &PageHeader::connections, &PageHeader::lanes}) {
      EXPECT_THAT(refusal([&](PageHeader& h) { changes[i](h.*table); }), HasSubstr("tables"))
          << "change " << i;
    }
  }
}

TEST_F(HostilePage, IsReadNoFurtherThanItsTables) {
  const auto reading = read_changed([](PageHeader& h) { h.lanes.slots_backed = UINT32_MAX; });
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->lanes.size(), 1U);
}

TEST_F(HostilePage, HasItsNamesMadeFitForATerminal) {
  std::vector<char> bytes = bytes_;
  auto* host = bytes.data() + header().connections.offset + offsetof(ConnectionSlot, peer_host);
  std::memset(host, 'a', 64);  // no NUL
  std::memcpy(host, "\x1b[2Jx\xff", 6);
  const auto reading = read(bytes);
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->connections[0].peer_host, "?[2Jx?" + std::string(58, 'a'));
}

TEST_F(HostilePage, HasUnknownStatesReadAsUnknown) {
  std::vector<char> bytes = bytes_;
  std::memset(bytes.data() + header().lanes.offset + offsetof(LaneSlot, state), 0xff, 4);
  EXPECT_EQ(read(bytes)->lanes[0].state, LaneState::kUnknown);
}

TEST_F(HostilePage, WithASlotThatIsNeverFinishedIsReadWithoutIt) {
  std::vector<char> bytes = bytes_;
  bytes[header().lanes.offset] = 1;
  const auto reading = read(bytes);
  ASSERT_TRUE(reading.ok());
  EXPECT_TRUE(reading->lanes.empty());
  EXPECT_EQ(reading->slots_that_kept_changing, 1U);
}

TEST_F(HostilePage, MayBeCutAnywhere) {
  for (size_t length = 0; length < bytes_.size(); length += length < 600 ? 1 : 61) {
    const auto reading = read({bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(length)});
    ASSERT_FALSE(reading.ok()) << length;
  }
}

TEST_F(HostilePage, MayShrinkAndGrowWhileItIsOpen) {
  const std::string path = directory_.path() + "/page";
  ASSERT_TRUE(read(bytes_).ok());
  const auto reader = TelemetryReader::open_file(path, geteuid());
  ASSERT_TRUE(reader.ok());
  for (const off_t length : {off_t{0}, off_t{100}, off_t{513}, off_t{8192}}) {
    ASSERT_EQ(truncate(path.c_str(), length), 0);
    EXPECT_FALSE(reader->read().ok());
  }
  ASSERT_TRUE(read(bytes_).ok());
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 40), 0);
  EXPECT_TRUE(reader->read().ok());
}

TEST_F(HostilePage, MayHoldAnyBytes) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  int readable = 0;
  constexpr int kRounds = 3'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<char> bytes = bytes_;
    // All but the mark in some rounds, a few bytes of the header or anywhere in others.
    const size_t reach = round % 3 == 0 ? sizeof(PageHeader) : bytes.size();
    const size_t changes = round % 5 == 0 ? reach : 1 + random() % 8;
    for (size_t i = 0; i < changes; ++i) {
      const size_t where = changes == reach ? i : random() % reach;
      if (where >= sizeof(kMagic)) {
        bytes[where] = static_cast<char>(random());
      }
    }
    readable += read(bytes).ok() ? 1 : 0;
  }
  EXPECT_GT(readable, kRounds / 4);  // else the rounds above try nothing but the header's checks
  EXPECT_LT(readable, kRounds);
}

}  // namespace
}  // namespace rocelane::telemetry
