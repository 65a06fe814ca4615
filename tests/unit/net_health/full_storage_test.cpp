// A page never brings its process down, however little room there is.

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "support.h"

namespace rocelane::telemetry {
namespace {

using testing::HasSubstr;

int warnings = 0;
void count_warnings(LogLevel level, const char*, int, const char*) {
  warnings += level == LogLevel::kWarn ? 1 : 0;
}

// Grants `bytes` in all.
Surroundings with_room_for(off_t bytes) {
  Surroundings surroundings;
  surroundings.reserve = [bytes](int descriptor, off_t offset, off_t length) mutable {
    bytes -= length;
    return bytes < 0 ? ENOSPC : reserve_storage(descriptor, offset, length);
  };
  return surroundings;
}

TEST(FullStorage, HidesThePageAndLeavesNoFile) {
  const TemporaryDirectory directory;
  const auto page = TelemetryPage::create(settings_in(directory), with_room_for(0), {});
  EXPECT_EQ(page->path(), nullptr);
  ASSERT_TRUE(page->why_hidden().has_value());
  EXPECT_THAT(page->why_hidden()->what, HasSubstr("No space left on device"));
  EXPECT_EQ(directory.file_count(), 0U);
  page->claim_lane({}).completed(1, 1'000);
}

TEST(FullStorage, LeavesLaterLanesOutAndSaysSoOnce) {
  const TemporaryDirectory directory;
  const auto page =
      TelemetryPage::create(settings_in(directory), with_room_for(512 + 32 * sizeof(LaneSlot)), {});
  warnings = 0;
  set_log_sink(&count_warnings);
  std::vector<LaneRecorder> lanes;
  for (int i = 0; i < 40; ++i) {
    lanes.push_back(page->claim_lane({}));
    lanes.back().completed(1, 1'000);
  }
  set_log_sink(nullptr);
  const PageReading reading = reading_of(*page);
  EXPECT_EQ(reading.lanes.size(), 32U);
  EXPECT_EQ(reading.lanes_not_shown, 8U);
  EXPECT_EQ(warnings, 1);
}

// The kernel kills a process that makes a larger file than it may.
TEST(FullStorage, KeepsToTheLimitOnFileSizes) {
  const TemporaryDirectory directory;
  Child child([&] {
    const rlimit limit{.rlim_cur = 65'536, .rlim_max = 65'536};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 1;
    }
    const auto page = page_in(directory);
    page->claim_lane({}).completed(1, 1'000);
    return page->path() == nullptr && page->why_hidden() &&
                   page->why_hidden()->what.find("limit on file sizes") != std::string::npos
               ? 0
               : 2;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(directory.file_count(), 0U);
}

constexpr int kNotAllowed = 77;

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// Mounts of this process and its children are theirs alone: as root, or as root of a user namespace
// that the system may let anybody make, though not a process that has threads.
bool have_mounts_of_our_own() {
  if (unshare(CLONE_NEWNS) == 0) {
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
  const unsigned uid = geteuid();
  const unsigned gid = getegid();
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", fmt::format("{} {} 1", uid, uid)) &&
         write_text("/proc/self/gid_map", fmt::format("{} {} 1", gid, gid));
}

bool mount_tiny_file_system(const std::string& path) {
  return have_mounts_of_our_own() && mount("tiny", path.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST(FullStorage, NeverFaultsOnARealFileSystem) {
  const TemporaryDirectory directory;
  Child child([&] {
    if (!mount_tiny_file_system(directory.path())) {
      return kNotAllowed;
    }
    const auto page = page_in(directory);
    if (page->path() == nullptr) {
      return 1;
    }
    auto port = page->claim_port({.device = "mlx5_0"});
    port.set_state(PortState::kActive, 1);
    // A step of lanes needs more than there is.
    auto lane = page->claim_lane({});
    for (uint64_t latency = 1; latency < uint64_t{1} << 40; latency *= 2) {
      lane.completed(1, latency);
    }
    std::ofstream(directory.path() + "/filler") << std::string(65'536, 'x');
    const auto second = page_in(directory);
    second->claim_lane({}).completed(1, 1'000);
    const PageReading reading = reading_of(*page);
    return reading.ports.size() == 1 && reading.lanes_not_shown == 1 && second->why_hidden() ? 0
                                                                                             : 2;
  });
  const int status = child.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
    GTEST_SKIP() << "This machine lets no process mount a file system of its own.";
  }
  EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
}

}  // namespace
}  // namespace rocelane::telemetry
