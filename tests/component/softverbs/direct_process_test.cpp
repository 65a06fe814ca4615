// Data that is there the moment it is posted: what a process carries out for another one must be
// what that one wants now, and not in a former life of its queue pair.

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr const char* kDevice = "host1/soft_0";
constexpr double kSeconds = 3;  // of trying
constexpr uint32_t kWrongKey = 0x7777;

// At the same address in every process of a test, so that data which goes to the wrong one lands.
std::array<uint8_t, 1 << 16> everywhere;

bool is_all(uint8_t byte, size_t bytes) {
  return std::all_of(everywhere.begin(), everywhere.begin() + static_cast<ptrdiff_t>(bytes),
                     [byte](uint8_t other) { return other == byte; });
}

EndWishes in_memory_everywhere() {
  return {.timeout = 0, .bytes = everywhere.size(), .memory = everywhere.data()};
}

// A sender waits for a receive, is reset, and writes to somebody else. When the receive comes, its
// owner must not carry out that write.
TEST(DirectData, OfAReusedQueuePairIsNotForItsFormerPeer) {
  constexpr size_t kBytes = 200;
  LabRun run;
  Process& former = run.start([](Line& line) {
    everywhere.fill('F');
    DistantEnd end(open_device(kDevice), {.timeout = 0});
    line.put(end.address());
    end.connect(line.get<Address>());
    line.say_go();
    line.await_go();
    end.receive(100, 1);
    line.say_go();
    line.await_go();
    line.put(is_all('F', everywhere.size()));
    line.put(end.received().size());
    line.await_go();
  });
  Process& next = run.start([](Line& line) {
    everywhere.fill('N');
    DistantEnd end(open_device(kDevice), in_memory_everywhere());
    line.put(end.address());
    end.to_init();
    const Address sender = line.get<Address>();
    line.await_go();
    end.to_rtr_and_rts(sender);
    line.say_go();
    line.await_go();
    line.put(is_all('S', kBytes));
    line.await_go();
  });
  Process& sender = run.start([](Line& line) {
    everywhere.fill('S');
    DistantEnd end(open_device(kDevice), in_memory_everywhere());
    line.put(end.address());
    const Address to_former = line.get<Address>();
    const Address to_next = line.get<Address>();
    line.await_go();
    end.connect(to_former);
    end.send(8, 1);
    end.reset();
    end.connect(to_next);
    end.write(to_next, kBytes, 2);
    line.say_go();
    line.await_go();
    const ibv_wc completion = end.await_sent();
    line.put(completion.wr_id == 2 && completion.status == IBV_WC_SUCCESS);
    line.await_go();
  });
  const auto of_former = former.line().get<Address>();
  const auto of_next = next.line().get<Address>();
  const auto of_sender = sender.line().get<Address>();
  former.line().put(of_sender);
  next.line().put(of_sender);
  sender.line().put(of_former);
  sender.line().put(of_next);
  former.line().await_go();  // listens
  sender.line().say_go();
  sender.line().await_go();  // has posted its write to a queue pair that is not ready
  next.line().say_go();
  next.line().await_go();  // is ready
  former.line().say_go();
  former.line().await_go();  // has posted its receive
  sender.line().say_go();
  EXPECT_TRUE(sender.line().get<bool>()) << "the write did not complete";
  next.line().say_go();
  EXPECT_TRUE(next.line().get<bool>()) << "the write has left other bytes than the sender's";
  former.line().say_go();
  EXPECT_TRUE(former.line().get<bool>()) << "bytes have landed at a third process";
  EXPECT_EQ(former.line().get<size_t>(), 0U) << "its receive was taken";
  for (Process* process : {&former, &next, &sender}) {
    process->line().say_go();
    EXPECT_TRUE(ends_well(*process));
  }
}

// The receiver, which never has a receive, comes and goes while the sender asks how things are.
TEST(DirectData, WaitsForAPeerThatMayVanish) {
  LabRun run;
  LinePair between = make_lines();
  constexpr EndWishes kImpatient{.timeout = 8, .retries = 0, .rnr_retries = 6, .rnr_timer = 30};
  Process& sender = run.start([&](Line& line) {
    ibv_context* const device = open_device(kDevice);
    uint64_t rounds = 0;
    for (const Deadline time(kSeconds); !time.is_over(); ++rounds) {
      DistantEnd end(device, kImpatient);
      between.left.put(end.address());
      end.connect(between.left.get<Address>());
      between.left.await_go();
      end.send(8, 1);
      between.left.say_go();
      const ibv_wc completion = end.await_sent();
      demand(
          completion.status == IBV_WC_RETRY_EXC_ERR ||
              completion.status == IBV_WC_RNR_RETRY_EXC_ERR,
          fmt::format("a send to nobody ended with \"{}\"", ibv_wc_status_str(completion.status)));
    }
    line.put(rounds);
  });
  run.start([&](Line&) {
    ibv_context* const device = open_device(kDevice);
    std::mt19937 chance(1);
    for (;;) {
      DistantEnd end(device, kImpatient);
      between.right.put(end.address());
      end.connect(between.right.get<Address>());
      between.right.say_go();
      between.right.await_go();
      usleep(static_cast<useconds_t>(chance() % 300));
    }
  });
  ASSERT_TRUE(ends_well(sender));
  EXPECT_GT(sender.line().get<uint64_t>(), 0U);
}

// One breaks the other by a wrong key. What comes late of that error must not reach the next life
// of the broken one.
TEST(DirectData, OfAFormerLifeDoesNotFlushTheNextOne) {
  LabRun run;
  LinePair between = make_lines();
  Process& broken = run.start([&](Line& line) {
    DistantEnd end(open_device(kDevice));
    between.left.put(end.address());
    const Address peer = between.left.get<Address>();
    uint64_t rounds = 0;
    for (const Deadline time(kSeconds); !time.is_over(); ++rounds) {
      end.connect(peer);
      between.left.say_go();
      for (const Deadline patience(5); end.state() != IBV_QPS_ERR;) {
        demand(!patience.is_over(), "a wrong key does not break the queue pair");
      }
      end.reset();
      end.to_init();
      end.receive(8, rounds);
      for (int i = 0; i < 50; ++i) {  // time for what may come late
        sched_yield();
        demand(end.received().empty(), fmt::format("round {}: a receive was flushed", rounds));
      }
      demand(end.state() == IBV_QPS_INIT, fmt::format("round {}: went out of INIT", rounds));
      end.reset();
      between.left.await_go();
    }
    line.put(rounds);
  });
  run.start([&](Line&) {
    DistantEnd end(open_device(kDevice));
    between.right.put(end.address());
    Address peer = between.right.get<Address>();
    peer.key = kWrongKey;
    for (;;) {
      between.right.await_go();
      end.connect(peer);
      end.write(peer, 8, 1);
      end.await_sent();
      end.reset();
      between.right.say_go();
    }
  });
  ASSERT_TRUE(ends_well(broken));
  EXPECT_GT(broken.line().get<uint64_t>(), 0U);
}

// A queue pair is modified from RTS to RTS at the moment its peer breaks it.
TEST(DirectData, DoesNotReviveAQueuePairInError) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    ibv_context* const device = open_device(kDevice);
    std::mt19937 chance(1);
    uint64_t rounds = 0;
    for (const Deadline time(kSeconds); !time.is_over(); ++rounds) {
      DistantEnd breaker(device);
      DistantEnd broken(device);
      breaker.connect(broken.address());
      broken.connect(breaker.address());
      std::atomic<bool> stop{false};
      std::thread modifier([&] {
        ibv_qp_attr step{};
        step.qp_state = IBV_QPS_RTS;
        step.min_rnr_timer = 3;
        while (!stop) {
          ibv_modify_qp(broken.queue_pair(), &step, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER);
        }
      });
      usleep(static_cast<useconds_t>(chance() % 100));
      Address wrong = broken.address();
      wrong.key = kWrongKey;
      breaker.write(wrong, 8, 1);
      breaker.await_sent();
      usleep(100);
      stop = true;
      modifier.join();
      demand(broken.state() == IBV_QPS_ERR,
             fmt::format("round {}: a queue pair in error came back", rounds));
    }
    line.put(rounds);
  });
  ASSERT_TRUE(ends_well(process));
  EXPECT_GT(process.line().get<uint64_t>(), 0U);
}

}  // namespace
}  // namespace rocelane::softverbs_test
