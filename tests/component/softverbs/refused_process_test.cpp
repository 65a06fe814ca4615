// What the machine or the run does not give is refused with one sentence or an errno value.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kDevice = "host1/soft_0";

// What a program gets that asks for devices where there are none.
struct Answer {
  bool has_list;
  int count, error;
};

Answer ask_for_devices() {
  int count = 0;
  errno = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  return {list != nullptr, count, errno};
}

void expect_no_devices(const Answer& answer) {
  EXPECT_EQ(answer.count, 0);
  EXPECT_TRUE(answer.has_list || answer.error != 0) << "neither a list nor an errno value";
}

void expect_one_sentence(const std::string& words) {
  EXPECT_THAT(words, StartsWith("softverbs: "));
  EXPECT_EQ(std::count(words.begin(), words.end(), '\n'), 1) << words;
}

// As `ulimit -v` does, with some room for everything but a run's segment.
void limit_address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr uint64_t kRoom = uint64_t{1} << 30;
  const rlim_t most = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + kRoom;
  const rlimit limit{most, most};
  demand_call(setrlimit(RLIMIT_AS, &limit) == 0, "the address space cannot be limited");
}

TEST(Refused, AnAddressSpaceWithoutRoomForARun) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    limit_address_space();
    line.put(ask_for_devices());
    line.put(ask_for_devices());  // says nothing a second time
  });
  const Ending ending = process.end();
  ASSERT_EQ(ending.exit_status, 0) << "signal " << ending.signal << ": " << ending.words;
  expect_no_devices(process.line().get<Answer>());
  expect_no_devices(process.line().get<Answer>());
  expect_one_sentence(ending.words);
  EXPECT_FALSE(std::filesystem::exists(run.folder())) << "something was left behind";
}

// A mount of its own hides the machine's /dev/shm from this process, and from it alone. False when
// the machine does not let its users do that; `what` then says which step failed.
bool have_small_shared_memory(size_t bytes, std::array<char, 128>* what) {
  const auto uid = geteuid();
  const auto gid = getegid();
  const auto says = [&](const char* step) {
    fmt::format_to_n(what->data(), what->size() - 1, "{}: {}", step, std::strerror(errno));
    return false;
  };
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return says("unshare(CLONE_NEWUSER | CLONE_NEWNS)");
  }
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", uid);
  std::ofstream("/proc/self/gid_map") << fmt::format("{0} {0} 1", gid);
  const std::string options = fmt::format("size={},mode=1777", bytes);
  return mount("small", "/dev/shm", "tmpfs", 0, options.c_str()) == 0 ||
         says("mounting a tmpfs at /dev/shm");
}

struct Place {
  bool is_small;
  std::array<char, 128> why_not;
};

struct Filled {
  uint64_t made;
  int error;  // 0: it never ended
  bool works_again;
};

// In a process whose /dev/shm is small.
Process& start_in_small_memory(LabRun& run, Filled (*fill)(ibv_context*)) {
  return run.start([fill](Line& line) {
    constexpr size_t kBytes = 32 << 20;
    Place place{};
    place.is_small = have_small_shared_memory(kBytes, &place.why_not);
    line.put(place);
    if (place.is_small) {
      line.put(fill(open_device(kDevice)));
    }
  });
}

Filled fill_with_queue_pairs(ibv_context* device) {
  constexpr uint32_t kDepth = 64;
  ibv_pd* const domain = ibv_alloc_pd(device);
  ibv_cq* const queue = ibv_create_cq(device, 16, nullptr, nullptr, 0);
  ibv_qp_init_attr wishes{};
  wishes.send_cq = queue;
  wishes.recv_cq = queue;
  wishes.cap = {kDepth, kDepth, 1, 1, 0};
  wishes.qp_type = IBV_QPT_RC;
  std::vector<ibv_qp*> pairs;
  Filled filled{};
  constexpr size_t kMost = 200'000;
  while (filled.error == 0 && pairs.size() < kMost) {
    errno = 0;
    ibv_qp* const pair = ibv_create_qp(domain, &wishes);
    filled.error = pair == nullptr ? errno : 0;
    if (pair != nullptr) {
      pairs.push_back(pair);
    }
  }
  filled.made = pairs.size();
  for (size_t i = 0; i < pairs.size() / 2; ++i) {
    demand(ibv_destroy_qp(pairs[i]) == 0, "a queue pair cannot be destroyed");
  }
  filled.works_again = ibv_create_qp(domain, &wishes) != nullptr;
  return filled;
}

// Regions are small: most of the room is taken away first.
Filled fill_with_regions(ibv_context* device) {
  ibv_pd* const domain = ibv_alloc_pd(device);
  std::vector<char> memory(4096);
  std::vector<ibv_mr*> regions{
      ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE)};
  std::ofstream ballast("/dev/shm/ballast", std::ios::binary);
  const std::vector<char> page(4096, 'b');
  while (ballast.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
  }
  Filled filled{};
  constexpr size_t kMost = 200'000;
  while (filled.error == 0 && regions.size() < kMost) {
    errno = 0;
    ibv_mr* const region = ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    filled.error = region == nullptr ? errno : 0;
    if (region != nullptr) {
      regions.push_back(region);
    }
  }
  filled.made = regions.size();
  for (size_t i = 0; i < regions.size() / 2; ++i) {
    demand(ibv_dereg_mr(regions[i]) == 0, "a region cannot be given back");
  }
  filled.works_again =
      ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE) != nullptr;
  return filled;
}

void expect_end_in_ENOMEM(Process& process) {
  const auto filled = process.line().get<Filled>();
  EXPECT_EQ(filled.error, ENOMEM);
  EXPECT_GT(filled.made, 0U);
  EXPECT_TRUE(filled.works_again) << "of places that were given back none is free";
  EXPECT_TRUE(ends_well(process));
}

TEST(Refused, QueuePairsWhenSharedMemoryIsFull) {
  LabRun run;
  Process& process = start_in_small_memory(run, fill_with_queue_pairs);
  if (const auto place = process.line().get<Place>(); !place.is_small) {
    GTEST_SKIP() << "this machine refuses a private /dev/shm: " << place.why_not.data();
  }
  expect_end_in_ENOMEM(process);
}

TEST(Refused, RegionsWhenSharedMemoryIsFull) {
  LabRun run;
  Process& process = start_in_small_memory(run, fill_with_regions);
  if (const auto place = process.line().get<Place>(); !place.is_small) {
    GTEST_SKIP() << "this machine refuses a private /dev/shm: " << place.why_not.data();
  }
  expect_end_in_ENOMEM(process);
}

// One process of a run has data take time, the other none.
void expect_the_second_is_refused(bool timed_first) {
  LabRun run;
  Process& first = run.start({.timed = timed_first}, [](Line& line) {
    line.put(ask_for_devices().count);
    line.await_go();
  });
  ASSERT_GT(first.line().get<int>(), 0);
  Process& second =
      run.start({.timed = !timed_first}, [](Line& line) { line.put(ask_for_devices()); });
  const Ending ending = second.end();
  EXPECT_EQ(ending.exit_status, 0) << "signal " << ending.signal << ": " << ending.words;
  expect_no_devices(second.line().get<Answer>());
  expect_one_sentence(ending.words);
  EXPECT_THAT(ending.words, HasSubstr(run.name()));
  first.line().say_go();
  EXPECT_TRUE(ends_well(first)) << "the run's first process was disturbed";
}

TEST(Refused, ADirectProcessInATimedRun) { expect_the_second_is_refused(true); }
TEST(Refused, ATimedProcessInADirectRun) { expect_the_second_is_refused(false); }

}  // namespace
}  // namespace rocelane::softverbs_test
