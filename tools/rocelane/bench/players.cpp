#include "bench/players.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace rocelane::bench {
namespace {

uint64_t real_now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

Error was_stopped() { return {ErrorCode::kRemote, "It was stopped."}; }

// One measurement, as all its threads see it.
struct Game {
  std::span<const std::unique_ptr<Work>> works;
  std::atomic<size_t> waiting;  // works whose thread is not at its start yet
  std::atomic<bool> failed = false;
  std::atomic<uint64_t> begin_ns = 0;
  std::atomic<uint64_t> end_ns = 0;
  std::mutex mutex;  // guards error
  std::optional<Error> error;

  explicit Game(std::span<const std::unique_ptr<Work>> all) : works(all), waiting(all.size()) {}

  // Threads wake up one after another; the time starts when all are awake.
  void wait_for_all() {
    if (waiting.fetch_sub(1) == 1) {
      begin_ns.store(real_now_ns());
    }
    while (begin_ns.load() == 0) {
      std::this_thread::yield();
    }
  }
  void fail(const Error& why) {
    const std::lock_guard lock(mutex);
    if (!error) {
      error = why;
    }
    failed = true;
  }
  void note_end() {
    const uint64_t now = real_now_ns();
    uint64_t latest = end_ns.load();
    while (latest < now && !end_ns.compare_exchange_weak(latest, now)) {
    }
  }
};

class Threads final : public Players {
 public:
  Threads(size_t places, const std::atomic<bool>& stop) : stop_(stop) {
    for (size_t place = 0; place < places; ++place) {
      threads_.emplace_back([this, place] { live(place); });
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() override {
    game_ = nullptr;
    start();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  Result<PlayedTime> play(std::span<const std::unique_ptr<Work>> works) override {
    Game game(works);
    game_ = &game;
    done_ = 0;
    start();
    for (size_t done = done_; done < threads_.size(); done = done_) {
      done_.wait(done);
    }
    if (game.error) {
      return *game.error;
    }
    return PlayedTime{game.begin_ns, game.end_ns};
  }

 private:
  void start() {
    ++games_;
    games_.notify_all();
  }

  void live(size_t place) {
    for (uint32_t game = 0;; ++game) {
      games_.wait(game);
      if (game_ == nullptr) {
        return;
      }
      play_one(*game_, place);
      ++done_;
      done_.notify_all();
    }
  }

  void play_one(Game& game, size_t place) const {
    if (place >= game.works.size()) {
      return;
    }
    game.wait_for_all();
    Work& work = *game.works[place];
    while (!game.failed && !work.is_finished()) {
      const Result<bool> moved = stop_ ? Result<bool>(was_stopped()) : work.step(real_now_ns());
      if (!moved) {
        game.fail(moved.error());
      } else if (!*moved) {
        std::this_thread::yield();  // as NCCL's progress thread does
      }
    }
    game.note_end();
  }

  const std::atomic<bool>& stop_;
  Game* game_ = nullptr;  // nullptr: go home
  std::atomic<uint32_t> games_ = 0;
  std::atomic<size_t> done_ = 0;
  std::vector<std::thread> threads_;  // last: they use the others
};

class Rounds final : public Players {
 public:
  Rounds(nccl_host::RoundClock& clock, nccl_host::Stage stage, const std::atomic<bool>& stop)
      : clock_(clock), stage_(stage), stop_(stop) {}

  Result<PlayedTime> play(std::span<const std::unique_ptr<Work>> works) override {
    PlayedTime time;
    time.begin_ns = clock_.now_ns();
    time.end_ns = time.begin_ns;
    for (bool all_finished = false; !all_finished;) {
      if (stop_) {
        return was_stopped();
      }
      bool moved = false;
      all_finished = true;
      for (const std::unique_ptr<Work>& work : works) {
        if (work->is_finished()) {
          continue;
        }
        const Result<bool> step = work->step(clock_.now_ns());
        if (!step) {
          return step.error();
        }
        moved = moved || *step;
        all_finished = all_finished && work->is_finished();
      }
      time.end_ns = clock_.now_ns();
      clock_.after_round(moved, stage_);
    }
    return time;
  }

 private:
  nccl_host::RoundClock& clock_;
  nccl_host::Stage stage_;
  const std::atomic<bool>& stop_;
};

}  // namespace

std::unique_ptr<Players> players_with_threads(size_t places, const std::atomic<bool>& stop) {
  return std::make_unique<Threads>(places, stop);
}

std::unique_ptr<Players> players_in_rounds(nccl_host::RoundClock& clock, nccl_host::Stage stage,
                                           const std::atomic<bool>& stop) {
  return std::make_unique<Rounds>(clock, stage, stop);
}

}  // namespace rocelane::bench
