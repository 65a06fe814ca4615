// Registering is slow and happens on any thread. Under ThreadSanitizer these also prove that
// nothing is shared unguarded.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fake_nic.h"
#include "net/memory/registration_cache.h"

namespace rocelane::net {
namespace {

using std::chrono::seconds;

// Whoever comes waits for the other one; in vain when somebody keeps it out.
class Meeting {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++here_;
    changed_.notify_all();
    changed_.wait_for(lock, seconds(10), [this] { return here_ == 2; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;
};

// Two threads that are both inside the NIC's driver before either gets its answer.
std::array<Result<SharedRegistration>, 2> register_at_once(FakeNic& nic,
                                                           const RegistrationRequest& first,
                                                           const RegistrationRequest& second) {
  Meeting inside;
  nic.set_pause([&] { inside.wait(); });
  const auto cache = nic.cache();
  auto other = std::async(std::launch::async, [&] { return cache->share(second); });
  std::array<Result<SharedRegistration>, 2> shared{cache->share(first), other.get()};
  nic.set_pause({});
  return shared;
}

TEST(RegistrationCacheThreads, KeepOneRegistrationWhenTwoRegisterTheSameAtOnce) {
  const auto nic = FakeNic::create();
  {
    const auto shared = register_at_once(*nic, host_memory(100, 200), host_memory(100, 200));
    EXPECT_EQ(shared[0]->keys().local, shared[1]->keys().local);
    EXPECT_EQ(nic->registered(), 2U);
    EXPECT_EQ(nic->live(), 1U) << "the loser's is gone before it goes on";
    for (const auto& one : shared) {
      EXPECT_TRUE(nic->accepts(one->keys(), {100, 200}, host_memory(0, 0).sharing_class));
    }
  }
  EXPECT_EQ(nic->live(), 0U);
}

TEST(RegistrationCacheThreads, ServeAPartAndItsWholeWhicheverIsFaster) {
  const auto nic = FakeNic::create();
  {
    const auto shared = register_at_once(*nic, host_memory(100, 200), host_memory(120, 130));
    EXPECT_TRUE(nic->accepts(shared[0]->keys(), {100, 200}, host_memory(0, 0).sharing_class));
    EXPECT_TRUE(nic->accepts(shared[1]->keys(), {120, 130}, host_memory(0, 0).sharing_class));
  }
  EXPECT_EQ(nic->live(), 0U);
}

TEST(RegistrationCacheThreads, DoNotShareAFailure) {
  const auto nic = FakeNic::create();
  nic->refuse_next(1);
  {
    const auto shared = register_at_once(*nic, host_memory(100, 200), host_memory(100, 200));
    EXPECT_NE(shared[0].ok(), shared[1].ok());
    EXPECT_EQ(nic->live(), 1U);
  }
  EXPECT_EQ(nic->live(), 0U);
}

TEST(RegistrationCacheThreads, DoNotWaitForSomebodyElsesSlowRegistration) {
  const auto nic = FakeNic::create();
  const auto cache = nic->cache();
  const auto known = cache->share(host_memory(100, 200)).value();
  std::promise<void> entered;
  std::promise<void> released;
  nic->set_pause([&] {
    entered.set_value();
    released.get_future().wait();
  });
  auto slow = std::async(std::launch::async, [&] { return cache->share(host_memory(1000, 2000)); });
  entered.get_future().wait();
  auto quick = std::async(std::launch::async, [&] {
    return cache->share(host_memory(120, 130)).ok();  // and dropped again
  });
  EXPECT_EQ(quick.wait_for(seconds(30)), std::future_status::ready);
  released.set_value();
  EXPECT_TRUE(quick.get());
  EXPECT_TRUE(slow.get().ok());
}

// One thread's life: registers, checks what it holds against the NIC, lets go. Returns how often it
// got what it wanted.
size_t live_with(FakeNic& nic, RegistrationCache& cache, uint32_t seed) {
  std::mt19937 random(seed);
  struct Held {
    RegistrationRequest wanted;
    SharedRegistration shared;
  };
  std::array<std::optional<Held>, 6> held;
  size_t got = 0;
  for (int i = 0; i < 10'000; ++i) {
    auto& place = held.at(random() % held.size());
    if (place.has_value()) {
      EXPECT_TRUE(
          nic.accepts(place->shared.keys(), place->wanted.range, place->wanted.sharing_class));
      place.reset();
      continue;
    }
    if (random() % 16 == 0) {
      nic.refuse_next(1);  // whoever comes next
    }
    const uint64_t begin = random() % 4;
    const RegistrationRequest wanted =
        host_memory(begin, begin + 1 + random() % 4, random() % 2 == 0);
    auto shared = cache.share(wanted);
    if (shared.ok()) {
      place.emplace(Held{wanted, std::move(*shared)});
      ++got;
    }
  }
  return got;
}

TEST(RegistrationCacheThreads, LiveWithTheSameMemoryForThousandsOfRounds) {
  const auto nic = FakeNic::create();
  nic->set_pause([] { std::this_thread::yield(); });
  const auto cache = nic->cache();
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::atomic<size_t> got{0};
  std::vector<std::thread> workers;
  for (uint32_t i = 0; i < 4; ++i) {
    workers.emplace_back([&, i] { got += live_with(*nic, *cache, seed + i); });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  EXPECT_GT(got, 15'000U) << "of about 20000: the test tests too little";
  EXPECT_LT(nic->registered(), got);
  EXPECT_EQ(nic->live(), 0U);
  EXPECT_EQ(nic->registered(), nic->deregistered());
}

}  // namespace
}  // namespace rocelane::net
