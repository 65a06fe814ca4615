// Whose turn it is to poll. What is polled needs a device: tests/component.

#include "verbs/completion_hub.h"

#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rocelane::verbs {
namespace {

// Asks as a channel does; whether it polled.
bool ask(CompletionHub& hub, uint32_t& seen) {
  if (!hub.is_poll_due(seen)) {
    return false;
  }
  const std::lock_guard held(hub);
  EXPECT_EQ(hub.poll(), 0);
  return true;
}

// As a channel whose request waits: the short question first.
bool ask_shortly(CompletionHub& hub, uint32_t& seen) {
  return !hub.has_been_polled(seen) && ask(hub, seen);
}

TEST(CompletionHub, TheShortQuestionLeavesTheTurnsAsTheyAre) {
  const auto hub = CompletionHub::create();
  std::vector<uint32_t> seen(256, 0);
  std::vector<uint32_t> seen_shortly(256, 0);
  const auto other = CompletionHub::create();
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(ask(*hub, seen[i]), ask_shortly(*other, seen_shortly[i])) << i;
    }
  }
}

TEST(CompletionHub, OfAllThatAskInTurnOneARoundPolls) {
  const auto hub = CompletionHub::create();
  std::vector<uint32_t> seen(256, 0);
  for (int round = 0; round < 100; ++round) {
    int polls = 0;
    for (uint32_t& each : seen) {
      polls += ask(*hub, each) ? 1 : 0;
    }
    EXPECT_EQ(polls, 1) << "round " << round;
  }
}

TEST(CompletionHub, WhoAsksAloneAlwaysPolls) {
  const auto hub = CompletionHub::create();
  uint32_t seen = 0;
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(ask(*hub, seen));
  }
}

TEST(CompletionHub, WhoAsksTwiceSeesAPollInBetween) {
  const auto hub = CompletionHub::create();
  std::vector<uint32_t> seen(10, 0);
  std::vector<int> polls_then(seen.size(), 0);
  uint32_t state = 1;
  int polls = 0;
  for (int step = 0; step < 10'000; ++step) {
    state = state * 1664525 + 1013904223;
    const size_t who = (state >> 16U) % seen.size();
    polls += ask(*hub, seen[who]) ? 1 : 0;
    EXPECT_GT(polls, polls_then[who]) << "step " << step;
    polls_then[who] = polls;
  }
}

TEST(CompletionHub, ThreadsTakeTurns) {
  const auto hub = CompletionHub::create();
  int guarded = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10'000; ++turn) {
        const std::lock_guard held(*hub);
        ++guarded;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(guarded, 40'000);
}

}  // namespace
}  // namespace rocelane::verbs
