// A fabric that takes time, on the real clock: data is not late when nobody polls, never early, and
// waiting for it costs little.

#include <algorithm>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr double kLinkGbps = 10;
constexpr const char* kTenGigabits = R"(
  [hosts]
  count = 2
  rails = 1
  [fabric]
  kind = "leaf"
  host_link = { rate = "10Gb/s", delay = "1us" }
)";

constexpr size_t kMessageBytes = 4 << 20;
constexpr size_t kMessages = 8;

enum class Waiting { kByEvents, kByPolling };

// Gb/s from the first post to the last completion.
double rate_of_messages(DistantEnd& sender, const Address& to, ibv_comp_channel* channel,
                        Waiting waiting) {
  using Clock = std::chrono::steady_clock;
  demand(ibv_req_notify_cq(sender.send_queue(), 0) == 0, "no notification");
  const auto begin = Clock::now();
  for (size_t i = 0; i < kMessages; ++i) {
    sender.write(to, kMessageBytes, i);
  }
  for (size_t completed = 0; completed < kMessages;) {
    if (waiting == Waiting::kByEvents) {
      ibv_cq* queue = nullptr;
      void* user = nullptr;
      demand_call(ibv_get_cq_event(channel, &queue, &user) == 0, "no event");
      ibv_ack_cq_events(queue, 1);
      demand(ibv_req_notify_cq(queue, 0) == 0, "no notification");
    }
    completed += sender.sent().size();
  }
  const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
  return static_cast<double>(kMessages * kMessageBytes * 8) / took.count();
}

// The best and the best only counts against a rate that is too low: a busy machine makes everything
// late. One that is too high is wrong every time.
struct Rates {
  double best;
  int tries;
};

Rates measure(Waiting waiting, double enough) {
  LabRun run({.fabric = kTenGigabits});
  Process& process = run.start([=](Line& line) {
    ibv_context* const device = open_device("host1/soft_0");
    ibv_comp_channel* const channel = ibv_create_comp_channel(device);
    // Acknowledgements may be late too.
    DistantEnd sender(device, {.timeout = 22, .bytes = kMessageBytes, .channel = channel});
    DistantEnd receiver(open_device("host2/soft_0"), {.timeout = 22, .bytes = kMessageBytes});
    sender.connect(receiver.address());
    receiver.connect(sender.address());
    Rates rates{};
    for (const Deadline time(4); rates.best < enough && !time.is_over(); ++rates.tries) {
      rates.best =
          std::max(rates.best, rate_of_messages(sender, receiver.address(), channel, waiting));
    }
    line.put(rates);
  });
  EXPECT_TRUE(ends_well(process));
  return process.line().get<Rates>();
}

TEST(RealClock, FillsALinkWhenNobodyPolls) {
  const Rates rates = measure(Waiting::kByEvents, kLinkGbps / 2);
  EXPECT_GE(rates.best, kLinkGbps / 2) << "Gb/s, the best of " << rates.tries;
  EXPECT_LE(rates.best, kLinkGbps * 1.05) << "Gb/s";
}

TEST(RealClock, IsNotAheadOfALinkWhenSomebodyPolls) {
  const Rates rates = measure(Waiting::kByPolling, kLinkGbps / 2);
  EXPECT_GE(rates.best, kLinkGbps / 2) << "Gb/s, the best of " << rates.tries;
  EXPECT_LE(rates.best, kLinkGbps * 1.05) << "Gb/s";
}

// Of all threads, exact; what /proc shows is counted in ticks.
double processor_seconds(const Process& process) {
  clockid_t clock{};
  timespec used{};
  demand(clock_getcpuclockid(process.id(), &clock) == 0 && clock_gettime(clock, &used) == 0,
         "a process does not say how much processor time it has had");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

TEST(RealClock, CostsLittleWhenNothingHappens) {
  constexpr int kProcesses = 16;
  constexpr unsigned kSeconds = 3;
  LabRun run({.timed = true});
  std::vector<Process*> idle;
  for (int i = 0; i < kProcesses; ++i) {
    idle.push_back(&run.start([](Line& line) {
      open_device("host1/soft_0");
      line.say_go();
      pause();
    }));
  }
  for (Process* process : idle) {
    process->line().await_go();
  }
  usleep(200'000);  // the last one's beginnings
  const auto all = [&idle] {
    double seconds = 0;
    for (const Process* process : idle) {
      seconds += processor_seconds(*process);
    }
    return seconds;
  };
  const double before = all();
  sleep(kSeconds);
  EXPECT_LT((all() - before) / kSeconds, 0.1) << "processors, for " << kProcesses << " processes";
}

}  // namespace
}  // namespace rocelane::softverbs_test
