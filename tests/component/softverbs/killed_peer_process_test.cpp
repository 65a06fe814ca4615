// The peer of a connection is killed at a bad moment.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <random>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr const char* kDevice = "host1/soft_0";

// Killed before the next write() of as many bytes as a completion channel's message has.
std::atomic<pid_t> victim{0};
constexpr size_t kMessageBytes = sizeof(uint32_t);

// Until it has closed everything it had open. Its parent is somebody else.
void kill_and_wait(pid_t process) {
  const FileDescriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  kill(process, SIGKILL);
  constexpr int kPatienceMs = 5000;
  pollfd its_end{handle.get(), POLLIN, 0};
  poll(&its_end, 1, kPatienceMs);
}

}  // namespace
}  // namespace rocelane::softverbs_test

// The whole program's, and so the one that softverbs calls; our files hide what they do not say to
// show.
extern "C" __attribute__((visibility("default"))) ssize_t write(int descriptor, const void* data,
                                                                size_t bytes) {
  using namespace rocelane::softverbs_test;
  if (bytes == kMessageBytes) {
    if (const pid_t process = victim.exchange(0); process != 0) {
      kill_and_wait(process);
    }
  }
  return syscall(SYS_write, descriptor, data, bytes);
}

namespace rocelane::softverbs_test {
namespace {

// The sender has the pipe of the receiver's completion channel open, and is about to write to it.
TEST(KilledPeer, BetweenOpenAndWriteOfItsPipeIsNoSIGPIPE) {
  LabRun run;
  Process& receiver = run.start([](Line& line) {
    ibv_context* const device = open_device(kDevice);
    DistantEnd end(device, {.channel = ibv_create_comp_channel(device)});
    line.put(end.address());
    end.connect(line.get<Address>());
    end.receive(8, 1);
    demand(ibv_req_notify_cq(end.receive_queue(), 0) == 0, "no notification");
    line.say_go();
    pause();
  });
  Process& sender = run.start([peer_process = receiver.id()](Line& line) {
    DistantEnd end(open_device(kDevice));
    line.put(end.address());
    const Address peer = line.get<Address>();
    end.connect(peer);
    line.await_go();
    victim = peer_process;
    end.write_with_immediate(peer, 8, 5, 1);
    line.put(victim.exchange(0) == 0);
  });
  introduce<Address>(receiver, sender);
  receiver.line().await_go();
  sender.line().say_go();
  ASSERT_TRUE(ends_well(sender));
  EXPECT_TRUE(sender.line().get<bool>()) << "nobody was killed: this test shows nothing";
}

// Writes to its peer's memory without a break.
void copy_until_killed(Line& line, size_t bytes) {
  DistantEnd end(open_device(kDevice), {.bytes = bytes});
  line.put(end.address());
  const Address peer = line.get<Address>();
  end.connect(peer);
  line.say_go();
  for (;;) {
    end.write(peer, bytes, 1);
    end.await_sent();
  }
}

void keep_processor_busy(Line&) {
  for (std::atomic<uint64_t> turns{0};; ++turns) {
  }
}

// The copier dies in the middle of a copy, and never says that it is done with the region.
TEST(KilledPeer, DoesNotHoldUpDeregistration) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSeconds = 4;
  constexpr size_t kBytes = 4 << 20;
  LabRun run;
  for (int i = 0; i < 2; ++i) {
    run.start(keep_processor_busy);
  }
  Process& owner = run.start([](Line& line) {
    ibv_context* const device = open_device(kDevice);
    while (line.get<char>() == 'g') {
      auto end = std::make_unique<DistantEnd>(device, EndWishes{.bytes = kBytes});
      line.put(end->address());
      end->connect(line.get<Address>());
      line.say_go();
      line.await_go();  // the copier is dead
      const auto begin = Clock::now();
      end.reset();
      line.put(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  });
  std::mt19937 chance(1);
  int rounds = 0;
  for (const Deadline time(kSeconds); !time.is_over(); ++rounds) {
    owner.line().say_go();
    Process& copier = run.start([](Line& line) { copy_until_killed(line, kBytes); });
    introduce<Address>(owner, copier);
    owner.line().await_go();
    copier.line().await_go();
    usleep(static_cast<useconds_t>(chance() % 10'000));
    run.forget(copier);
    owner.line().say_go();
    ASSERT_LT(owner.line().get<double>(), 1) << "seconds, in round " << rounds;
  }
  owner.line().put('e');
  EXPECT_TRUE(ends_well(owner));
  EXPECT_GT(rounds, 0);
}

}  // namespace
}  // namespace rocelane::softverbs_test
