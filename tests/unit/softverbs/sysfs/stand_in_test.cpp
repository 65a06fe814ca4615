// Calls the C library's functions as programs do, with ours in front of them.

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "two_devices.h"

namespace rocelane::softverbs {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr const char* kClass = "/sys/class/infiniband";
constexpr const char* kState = "/sys/class/infiniband/soft_0/ports/1/state";
constexpr const char* kEmptyType = "/sys/class/infiniband/soft_0/ports/1/gid_attrs/types/0";
constexpr const char* kDevice = "/sys/class/infiniband/soft_0/device";
constexpr const char* kPlace = "/sys/devices/pci0000:f0/0000:f0:01.0/0000:f1:00.0";

class StandIn : public ::testing::Test {
 protected:
  void SetUp() override { set_source(&source_); }
  void TearDown() override { set_source(nullptr); }

  testing::TwoDevices source_;
};

std::string read_all(int descriptor) {
  std::array<char, 256> text{};
  const ssize_t length = ::read(descriptor, text.data(), text.size());
  return {text.data(), length > 0 ? static_cast<size_t>(length) : 0};
}

std::string read_by_path(const char* path) {
  const int descriptor = ::open(path, O_RDONLY);
  const std::string text = read_all(descriptor);
  ::close(descriptor);
  return text;
}

std::vector<std::string> names_in(DIR* stream) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    names.emplace_back(entry->d_name);
  }
  return names;
}

TEST_F(StandIn, FilesAreReadByDescriptorAndByStream) {
  EXPECT_EQ(read_by_path(kState), "4: ACTIVE\n");
  std::array<char, 64> text{};
  FILE* stream = std::fopen(kState, "r");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), stream), 10U);
  EXPECT_NE(std::feof(stream), 0);
  std::fclose(stream);
  std::string line;
  std::getline(std::ifstream(kState) >> std::ws, line);
  EXPECT_EQ(line, "4: ACTIVE");
}

TEST_F(StandIn, AnEmptyGidSlotsTypeOpensAndCannotBeRead) {
  const int descriptor = ::open(kEmptyType, O_RDONLY);
  ASSERT_GE(descriptor, 0);
  char byte = 0;
  errno = 0;
  EXPECT_EQ(::read(descriptor, &byte, 1), -1);
  EXPECT_EQ(errno, EINVAL);
  ::close(descriptor);
}

TEST_F(StandIn, NothingCanBeWritten) {
  errno = 0;
  EXPECT_EQ(::open(kState, O_RDWR), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(std::fopen(kState, "w"), nullptr);
  const int descriptor = ::open(kState, O_RDONLY);
  EXPECT_EQ(::write(descriptor, "x", 1), -1);
  ::close(descriptor);
}

TEST_F(StandIn, MissingFilesSayWhy) {
  errno = 0;
  EXPECT_EQ(::open("/sys/class/infiniband/mlx5_0/fw_ver", O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
  errno = 0;
  EXPECT_EQ(::realpath("/sys/class/infiniband/mlx5_0/device", nullptr), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::open(kState, O_RDONLY | O_DIRECTORY), -1);
  EXPECT_EQ(errno, ENOTDIR);
}

TEST_F(StandIn, SuccessLeavesErrnoAlone) {
  errno = 77;
  EXPECT_EQ(read_by_path(kState), "4: ACTIVE\n");
  EXPECT_EQ(errno, 77);
}

TEST_F(StandIn, LinksAreResolvedReadAndSeen) {
  const std::unique_ptr<char, void (*)(void*)> path(::realpath(kDevice, nullptr), &std::free);
  ASSERT_NE(path, nullptr);
  EXPECT_STREQ(path.get(), kPlace);
  std::array<char, PATH_MAX> target{};
  EXPECT_EQ(::readlink(kDevice, target.data(), target.size()),
            static_cast<ssize_t>(std::string(kPlace).size()));
  EXPECT_STREQ(target.data(), kPlace);
  struct stat facts {};
  ASSERT_EQ(::lstat(kDevice, &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));
  ASSERT_EQ(::stat(kDevice, &facts), 0);
  EXPECT_TRUE(S_ISDIR(facts.st_mode));
}

TEST_F(StandIn, AccessAllowsReadingOnly) {
  EXPECT_EQ(::access(kState, R_OK), 0);
  EXPECT_EQ(::access(kState, W_OK), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(::access(kClass, R_OK | X_OK), 0);
}

TEST_F(StandIn, DirectoriesAreListed) {
  DIR* stream = ::opendir(kClass);
  ASSERT_NE(stream, nullptr);
  EXPECT_THAT(names_in(stream), ElementsAre(".", "..", "soft_0", "soft_1"));
  ::rewinddir(stream);
  EXPECT_EQ(names_in(stream).size(), 4U);
  EXPECT_EQ(::closedir(stream), 0);
}

TEST_F(StandIn, DirectoriesAreScannedFilteredAndSorted) {
  dirent** list = nullptr;
  const int count = ::scandir(
      kClass, &list, [](const dirent* entry) { return entry->d_name[0] != '.' ? 1 : 0; },
      ::alphasort);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(list[0]->d_name, "soft_0");
  EXPECT_STREQ(list[1]->d_name, "soft_1");
  for (int i = 0; i < count; ++i) {
    std::free(list[i]);
  }
  std::free(list);
}

TEST_F(StandIn, FilesAreReachedFromAnOpenDirectory) {
  const int folder = ::open(kClass, O_RDONLY | O_DIRECTORY);
  ASSERT_GE(folder, 0);
  const int descriptor = ::openat(folder, "soft_0/ports/1/link_layer", O_RDONLY);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(read_all(descriptor), "Ethernet\n");
  ::close(descriptor);
  ::close(folder);
}

TEST_F(StandIn, TheStandardLibraryWalksAndResolves) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kClass)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, UnorderedElementsAre("soft_0", "soft_1"));
  EXPECT_EQ(std::filesystem::canonical(kDevice), kPlace);
  EXPECT_TRUE(std::filesystem::is_symlink(kDevice));
  EXPECT_TRUE(std::filesystem::exists(kState));
}

TEST_F(StandIn, OtherFilesAreTheMachines) {
  EXPECT_EQ(read_by_path("/proc/self/comm").empty(), false);
  EXPECT_FALSE(read_by_path("/sys/class/net/lo/mtu").empty());
  DIR* stream = ::opendir("/sys/class/net");
  ASSERT_NE(stream, nullptr);
  EXPECT_FALSE(names_in(stream).empty());
  ::closedir(stream);
  const std::string temporary =
      ::testing::TempDir() + "stand_in_test." + std::to_string(::getpid());
  const int descriptor = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR, 0640);
  ASSERT_GE(descriptor, 0);
  struct stat facts {};
  ASSERT_EQ(::stat(temporary.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

TEST_F(StandIn, WithoutASourceTheMachineIsShown) {
  set_source(nullptr);
  EXPECT_EQ(::access(kState, R_OK), -1);
}

// A source may read files while it is asked.
class CuriousSource : public testing::TwoDevices {
 public:
  std::vector<VisibleDevice> devices() const override {
    answers_while_asked = ::access(kClass, R_OK) == 0;
    return TwoDevices::devices();
  }
  mutable std::atomic<bool> answers_while_asked{true};
};

TEST_F(StandIn, ASourceThatReadsFilesSeesTheMachine) {
  const CuriousSource curious;
  set_source(&curious);
  EXPECT_EQ(read_by_path(kState), "4: ACTIVE\n");
  EXPECT_EQ(curious.answers_while_asked, std::filesystem::exists("/sys/class/net/../infiniband"));
}

TEST_F(StandIn, ManyThreadsReadAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&wrong] {
      for (int round = 0; round < 200; ++round) {
        wrong += read_by_path(kState) == "4: ACTIVE\n" ? 0 : 1;
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rocelane::softverbs
