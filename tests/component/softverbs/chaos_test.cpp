// Traffic and disasters by chance, and what must hold whatever they are. A failure names its seed;
// ROCELANE_CHAOS_SEEDS=12345 runs that one again, and =1..100000 runs many.

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "chaos_endpoint.h"
#include "chaos_plan.h"
#include "chaos_stream.h"
#include "simulation.h"

namespace rocelane::softverbs_test {
namespace {

constexpr uint64_t kForEver = 3600 * kSecond;

struct Lane {
  std::unique_ptr<Endpoint> from, to;
  std::optional<bool> paused_from;  // which of the two is paused

  Endpoint& end(bool first) const { return first ? *from : *to; }
};

class Chaos {
 public:
  explicit Chaos(uint64_t seed) : dice_(seed), plan_(make_plan(dice_)) {
    simulation_ = std::make_unique<Simulation>(plan_.fabric, plan_.faults, seed);
    for (const LanePlan& lane : plan_.lanes) {
      lanes_.push_back({std::make_unique<Endpoint>(station(lane.from), lane),
                        std::make_unique<Endpoint>(station(lane.to), lane),
                        {}});
      connect(lanes_.back());
    }
  }

  // What has been done, for the one who looks into a failure.
  std::string description() const { return plan_.fabric + "\n" + plan_.faults + injected_; }
  const std::string& log() const { return simulation_->log(); }

  // Throws Broken.
  void run() {
    for (int step = 0; step < plan_.steps; ++step) {
      do_something();
    }
    come_to_rest();
    for (const std::shared_ptr<Stream>& stream : streams_) {
      stream->check_end();
    }
    for (const auto& [name, station] : stations_) {
      station->check_end();
    }
    lanes_.clear();
    stations_.clear();
    check_nothing_is_left();
  }

 private:
  Station& station(const std::string& device) {
    std::unique_ptr<Station>& place = stations_[device];
    if (place == nullptr) {
      place = std::make_unique<Station>(simulation_->device(device), plan_);
    }
    return *place;
  }

  void connect(Lane& lane) {
    const auto there = std::make_shared<Stream>(plan_.calm);
    const auto back = std::make_shared<Stream>(plan_.calm);
    streams_.insert(streams_.end(), {there, back});
    const auto psn = static_cast<uint32_t>(dice_.below(1U << 24U));
    const auto psn_back = static_cast<uint32_t>(dice_.below(1U << 24U));
    lane.from->connect(*lane.to, there, back, psn, psn_back);
    lane.to->connect(*lane.from, back, there, psn_back, psn);
    lane.paused_from.reset();
  }

  // Takes all completions.
  void look() {
    for (const auto& [name, station] : stations_) {
      station->poll();
    }
    for (const Lane& lane : lanes_) {
      lane.from->look();
      lane.to->look();
    }
    for (const std::shared_ptr<Stream>& stream : streams_) {
      stream->check_now();
    }
  }

  void let_time_pass() {
    simulation_->run_for(dice_.below(dice_.chance(10) ? 5 * kMillisecond : 100 * kMicrosecond));
    look();
  }

  void do_something() {
    Lane& lane = lanes_[dice_.below(lanes_.size())];
    const bool first = dice_.chance(60);
    if (dice_.below(1000) < plan_.restarts) {
      restart(lane);
      return;
    }
    const uint64_t what = dice_.below(100);
    if (what < 62) {
      lane.end(first).post_random(dice_, lane.end(!first), plan_.sins);
    } else if (what < 80) {
      lane.end(first).post_receive();
    } else if (what < 95 || plan_.calm) {
      let_time_pass();
    } else if (what < 97) {
      inject();
    } else if (what < 99) {
      pause_or_go_on(lane, first);
    } else if (plan_.restarts > 0) {
      look();
      lane.end(first).stop();
    }
  }

  void inject() {
    const std::string fault = random_fault(dice_, plan_);
    injected_ += "# injected at " + std::to_string(simulation_->now_ns()) + " ns\n" + fault;
    char error[256] = "";
    require(softverbs_inject(fault.c_str(), error, sizeof error) == 0, error);
  }

  void pause_or_go_on(Lane& lane, bool first) {
    look();
    if (lane.paused_from) {
      go_on(lane);
    } else if (!lane.end(first).failed()) {
      lane.end(first).pause();
      lane.paused_from = first;
    }
  }

  static void go_on(Lane& lane) {
    Endpoint& paused = lane.end(*lane.paused_from);
    if (!paused.failed()) {
      paused.go_on();
    }
    lane.paused_from.reset();
  }

  // One end after the other, as programs do; what is under way arrives at strangers.
  void restart(Lane& lane) {
    const bool first = dice_.chance(50);
    for (const bool end : {first, !first}) {
      // What has completed and was not taken vanishes with the queue pair. With shared receives
      // nobody could tell which of them did.
      const bool forgetful = !plan_.shared_receives && dice_.chance(30);
      if (!forgetful) {
        look();
      }
      if (dice_.chance(40)) {
        lane.end(end).stop();
        if (!forgetful) {
          look();
        }
      }
      lane.end(end).reset(dice_.chance(40));
      if (dice_.chance(50)) {
        let_time_pass();
      }
    }
    connect(lane);
  }

  void come_to_rest() {
    look();
    for (Lane& lane : lanes_) {
      if (lane.paused_from) {
        go_on(lane);
      }
    }
    while (true) {
      for (Lane& lane : lanes_) {
        for (const bool first : {true, false}) {
          lane.end(first).post_receives_wanted();
          lane.end(first).post_last(dice_, lane.end(!first));
        }
      }
      const uint64_t next_ns = softverbs_next_event_ns();
      if (next_ns == UINT64_MAX) {
        break;
      }
      require(next_ns < kForEver, "everything comes to rest");
      softverbs_run_until(next_ns + 20 * kMicrosecond);
      look();
    }
    look();
  }

  void check_nothing_is_left() {
    for (const LanePlan& lane : plan_.lanes) {
      const softverbs_device_counters counters = simulation_->counters(lane.from);
      require(counters.live_queue_pairs == 0 && counters.live_completion_queues == 0 &&
                  counters.live_memory_regions == 0 && counters.live_protection_domains == 0 &&
                  counters.live_shared_receive_queues == 0,
              "no object of a device is left in the end");
    }
  }

  Dice dice_;
  ChaosPlan plan_;
  std::string injected_;
  std::unique_ptr<Simulation> simulation_;
  std::map<std::string, std::unique_ptr<Station>> stations_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::vector<Lane> lanes_;
};

// The event log; nothing, and a failure, when a promise is broken.
std::optional<std::string> log_of(uint64_t seed) {
  Chaos chaos(seed);
  try {
    chaos.run();
    return chaos.log();
  } catch (const Broken& broken) {
    ADD_FAILURE() << "seed " << seed << ": " << broken.what() << "\n" << chaos.description();
    if (const char* file = std::getenv("ROCELANE_CHAOS_LOG")) {
      std::ofstream(file) << chaos.log();
    }
    return std::nullopt;
  }
}

struct Seeds {
  uint64_t first, last;
};

Seeds seeds_to_run() {
  const char* wish = std::getenv("ROCELANE_CHAOS_SEEDS");
  if (wish == nullptr) {
    return {1, 300};
  }
  char* rest = nullptr;
  const uint64_t first = std::strtoull(wish, &rest, 10);
  const bool range = rest[0] == '.' && rest[1] == '.';
  return {first, range ? std::strtoull(rest + 2, nullptr, 10) : first};
}

TEST(Chaos, PromisesHoldWhateverHappensAndTheSameSeedDoesTheSame) {
  const Seeds seeds = seeds_to_run();
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const auto log = log_of(seed);
    if (log && seed % 4 == 0) {
      EXPECT_TRUE(log == log_of(seed)) << "seed " << seed << " does not do the same twice";
    }
  }
}

}  // namespace
}  // namespace rocelane::softverbs_test
