#include "bench/players.h"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// So many steps, each noted.
class Steps final : public Work {
 public:
  using Note = std::function<void(int)>;
  Steps(int who, int steps, Note note) : who_(who), left_(steps), note_(std::move(note)) {}
  Result<bool> step(uint64_t) override {
    note_(who_);
    --left_;
    return true;
  }
  bool is_finished() const override { return left_ == 0; }

 private:
  int who_;
  int left_;
  Note note_;
};

class Fails final : public Work {
 public:
  Result<bool> step(uint64_t) override { return Error{ErrorCode::kRemote, "It broke."}; }
  bool is_finished() const override { return false; }
};

class NeverFinishes final : public Work {
 public:
  Result<bool> step(uint64_t) override { return false; }
  bool is_finished() const override { return false; }
};

// Each look at it is a nanosecond later.
class CountingClock final : public nccl_host::RoundClock {
 public:
  uint64_t now_ns() const override { return rounds_; }
  void after_round(bool, nccl_host::Stage) override { ++rounds_; }

 private:
  uint64_t rounds_ = 100;
};

const std::atomic<bool> kNoStop = false;

std::vector<std::unique_ptr<Work>> works(std::unique_ptr<Work> first,
                                         std::unique_ptr<Work> second) {
  std::vector<std::unique_ptr<Work>> both;
  both.push_back(std::move(first));
  both.push_back(std::move(second));
  return both;
}

TEST(PlayersInRounds, TakeTurnsUntilAllAreFinished) {
  CountingClock clock;
  std::vector<int> order;
  const auto note = [&](int who) { order.push_back(who); };
  const auto both = works(std::make_unique<Steps>(0, 1, note), std::make_unique<Steps>(1, 3, note));
  const Result<PlayedTime> time =
      players_in_rounds(clock, nccl_host::Stage::kMessages, kNoStop)->play(both);
  ASSERT_TRUE(time);
  EXPECT_THAT(order, ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(time->begin_ns, 100U);
  EXPECT_EQ(time->end_ns, 102U) << "the round of the last step does not end the time later";
}

TEST(PlayersInRounds, EndWithTheFirstError) {
  CountingClock clock;
  const auto both = works(std::make_unique<NeverFinishes>(), std::make_unique<Fails>());
  const Result<PlayedTime> time =
      players_in_rounds(clock, nccl_host::Stage::kMessages, kNoStop)->play(both);
  ASSERT_FALSE(time);
  EXPECT_THAT(time.error().what, HasSubstr("It broke."));
}

TEST(PlayersWithThreads, KeepAThreadForEachPlace) {
  const std::unique_ptr<Players> players = players_with_threads(2, kNoStop);
  std::mutex mutex;
  std::array<std::set<std::thread::id>, 2> threads;
  const auto note = [&](int who) {
    const std::lock_guard lock(mutex);
    threads[static_cast<size_t>(who)].insert(std::this_thread::get_id());
  };
  for (int game = 0; game < 50; ++game) {
    const Result<PlayedTime> time = players->play(
        works(std::make_unique<Steps>(0, 20, note), std::make_unique<Steps>(1, 1, note)));
    ASSERT_TRUE(time);
    EXPECT_GE(time->end_ns, time->begin_ns);
  }
  EXPECT_EQ(threads[0].size(), 1U);
  EXPECT_EQ(threads[1].size(), 1U);
  EXPECT_NE(*threads[0].begin(), *threads[1].begin());
  EXPECT_FALSE(threads[0].contains(std::this_thread::get_id()));
}

TEST(PlayersWithThreads, AllEndWithTheFirstErrorAndCanPlayAgain) {
  const std::unique_ptr<Players> players = players_with_threads(2, kNoStop);
  const Result<PlayedTime> time =
      players->play(works(std::make_unique<NeverFinishes>(), std::make_unique<Fails>()));
  ASSERT_FALSE(time);
  EXPECT_THAT(time.error().what, HasSubstr("It broke."));
  EXPECT_TRUE(players->play(
      works(std::make_unique<Steps>(0, 1, [](int) {}), std::make_unique<Steps>(1, 1, [](int) {}))));
}

// Sets a flag in its third step, and never finishes.
class StopsThem final : public Work {
 public:
  explicit StopsThem(std::atomic<bool>& stop) : stop_(stop) {}
  Result<bool> step(uint64_t) override {
    stop_ = ++steps_ == 3;
    return true;
  }
  bool is_finished() const override { return false; }
  int steps() const { return steps_; }

 private:
  std::atomic<bool>& stop_;
  int steps_ = 0;
};

TEST(PlayersOfBothKinds, StopWhenTheyAreTold) {
  CountingClock clock;
  std::atomic<bool> stop = false;
  for (const std::shared_ptr<Players>& players :
       {std::shared_ptr<Players>(players_with_threads(2, stop)),
        std::shared_ptr<Players>(players_in_rounds(clock, nccl_host::Stage::kMessages, stop))}) {
    stop = false;
    const auto both = works(std::make_unique<NeverFinishes>(), std::make_unique<StopsThem>(stop));
    const Result<PlayedTime> time = players->play(both);
    ASSERT_FALSE(time);
    EXPECT_THAT(time.error().what, HasSubstr("stopped"));
    EXPECT_EQ(static_cast<const StopsThem&>(*both[1]).steps(), 3);
  }
}

}  // namespace
}  // namespace rocelane::bench
