// Processes are killed at any point of what they do. Those that go on, on the same devices, must
// not notice.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr double kSeconds = 4;  // of killing

using Devices = std::array<std::string, 2>;

// Sends numbered messages of changing size, and checks those of its peer: every one, once, in
// order, every byte. At most `kReceives` messages are taken before the first of them has been
// checked, so a slot of memory is free again when its turn comes.
class Survivor {
 public:
  static constexpr uint64_t kAtOnce = 8;
  static constexpr uint64_t kReceives = 32;
  static constexpr uint64_t kSlots = 2 * kReceives;
  static constexpr size_t kSlotBytes = 65536;

  // The payloads lie behind the slots.
  explicit Survivor(const std::string& device)
      : end_(open_device(device), {.bytes = (kSlots + kAtOnce) * kSlotBytes}) {}

  void meet(Line& line) {
    line.put(end_.address());
    peer_ = line.get<Address>();
    end_.connect(peer_);
    for (uint64_t i = 0; i < kReceives; ++i) {
      end_.receive(1, i);
    }
    line.say_go();
    line.await_go();
  }

  // Goes on after the time is over until both have got all of the other's messages.
  void exchange(double seconds, Line& partner) {
    const Deadline time(seconds);
    bool told = false;
    std::optional<uint64_t> expected;
    while (!told || received_ != expected) {
      if (!time.is_over()) {
        send_more();
      } else if (!told && completed_ == sent_) {
        partner.put(sent_);
        told = true;
      }
      if (!expected && partner.has_something()) {
        expected = partner.get<uint64_t>();
      }
      take_completions();
      take_messages();
      demand(!patience_.is_over(),
             fmt::format("nothing moves: {} sent, {} of them completed, {} received", sent_,
                         completed_, received_));
    }
  }

  uint64_t received() const { return received_; }

 private:
  static constexpr double kPatience = 3;  // seconds

  static size_t bytes_of(uint64_t message) { return 1 + message * 7919 % 60000; }
  static uint8_t content_of(uint64_t message) { return static_cast<uint8_t>(message % 251); }

  void send_more() {
    for (; sent_ - completed_ < kAtOnce; ++sent_) {
      const size_t payload = (kSlots + sent_ % kAtOnce) * kSlotBytes;
      std::memset(end_.memory() + payload, content_of(sent_), bytes_of(sent_));
      end_.write_with_immediate(peer_, bytes_of(sent_), static_cast<uint32_t>(sent_), sent_,
                                payload, sent_ % kSlots * kSlotBytes);
    }
  }

  void take_completions() {
    const auto completions = end_.sent();
    for (const ibv_wc& completion : completions) {
      demand(completion.status == IBV_WC_SUCCESS,
             fmt::format("send {} ended with \"{}\"", completion.wr_id,
                         ibv_wc_status_str(completion.status)));
      demand(completion.wr_id == completed_,
             fmt::format("send {} completes when {} should", completion.wr_id, completed_));
      ++completed_;
    }
    rest_or_go_on(completions.empty());
  }

  void take_messages() {
    const auto messages = end_.received();
    for (const ibv_wc& message : messages) {
      demand(message.status == IBV_WC_SUCCESS,
             fmt::format("receive {} ended with \"{}\"", received_,
                         ibv_wc_status_str(message.status)));
      demand(message.imm_data == static_cast<uint32_t>(received_),
             fmt::format("message {} comes when {} should", message.imm_data, received_));
      const uint8_t* const slot = end_.memory() + received_ % kSlots * kSlotBytes;
      demand(std::all_of(slot, slot + bytes_of(received_),
                         [this](uint8_t byte) { return byte == content_of(received_); }),
             fmt::format("message {} has other bytes than were sent", received_));
      ++received_;
      end_.receive(1, 0);
    }
    rest_or_go_on(messages.empty());
  }

  void rest_or_go_on(bool nothing_came) {
    if (nothing_came) {
      usleep(20);
    } else {
      patience_ = Deadline(kPatience);
    }
  }

  DistantEnd end_;
  Address peer_{};
  uint64_t sent_ = 0, completed_ = 0, received_ = 0;
  Deadline patience_{kPatience};
};

// A process that writes to itself from one device to the other, and back, until it is killed.
void be_victim(const Devices& devices, Line& line) {
  constexpr size_t kMostBytes = 60000;
  constexpr uint64_t kMostOutstanding = 32;
  std::array<DistantEnd, 2> ends{DistantEnd(open_device(devices[0])),
                                 DistantEnd(open_device(devices[1]))};
  ends[0].connect(ends[1].address());
  ends[1].connect(ends[0].address());
  line.say_go();
  std::array<uint64_t, 2> outstanding{};
  for (uint64_t i = 0;; ++i) {
    const size_t from = i % 2;
    if (outstanding[from] < kMostOutstanding) {
      ends[from].write(ends[1 - from].address(), 1 + i * 7919 % kMostBytes, i);
      ++outstanding[from];
    }
    outstanding[from] -= ends[from].sent().size();
  }
}

// What dead processes had must not keep new ones out.
void await_readiness(Line& newcomer) {
  constexpr double kPatience = 2;
  for (const Deadline patience(kPatience); !newcomer.has_something(); usleep(100)) {
    demand(!patience.is_over(), fmt::format("a new process was not ready within {} s", kPatience));
  }
  newcomer.await_go();
}

// Kills one, most of the time one that has begun to write, and has another one begun.
void replace_victim(LabRun& run, const Devices& devices, bool at_any_time, Process** victim) {
  if (*victim != nullptr) {
    if (!at_any_time) {
      await_readiness((*victim)->line());
    }
    run.forget(**victim);
  }
  *victim = &run.start([devices](Line& line) { be_victim(devices, line); });
}

void start_together(Process& one, Process& other) {
  one.line().await_go();
  other.line().await_go();
  one.line().say_go();
  other.line().say_go();
}

void survive(LabRun& run, const Devices& devices) {
  LinePair between = make_lines();
  std::array<Process*, 2> survivors{};
  for (size_t i = 0; i < 2; ++i) {
    Line& partner = i == 0 ? between.left : between.right;
    survivors[i] = &run.start([&device = devices[i], &partner](Line& line) {
      Survivor survivor(device);
      survivor.meet(line);
      survivor.exchange(kSeconds, partner);
      line.put(survivor.received());
    });
  }
  introduce<Address>(*survivors[0], *survivors[1]);
  start_together(*survivors[0], *survivors[1]);
  std::mt19937 chance(1);
  std::array<Process*, 2> victims{};
  int kills = -2;  // the first two only begin
  for (const Deadline time(kSeconds);
       !time.is_over() && !survivors[0]->has_ended() && !survivors[1]->has_ended(); ++kills) {
    const bool at_any_time = chance() % 4 == 0;
    replace_victim(run, devices, at_any_time, &victims[chance() % 2]);
    usleep(static_cast<useconds_t>(chance() % 5'000));
  }
  for (Process* survivor : survivors) {
    ASSERT_TRUE(ends_well(*survivor));
    EXPECT_GT(survivor->line().get<uint64_t>(), 0U);
  }
  EXPECT_GT(kills, 0);
  testing::Test::RecordProperty("kills", kills);
}

TEST(KilledProcesses, DoNotDisturbOthersOnTheSameLinks) {
  LabRun run({.fabric = R"(
    [hosts]
    count = 2
    rails = 1
    [fabric]
    kind = "leaf"
    host_link = { rate = "25Gb/s", delay = "1us" }
  )"});
  survive(run, {"host1/soft_0", "host2/soft_0"});
}

TEST(KilledProcesses, DoNotDisturbOthersWhenDataTakesNoTime) {
  LabRun run;
  survive(run, {"host1/soft_0", "host1/soft_1"});
}

}  // namespace
}  // namespace rocelane::softverbs_test
