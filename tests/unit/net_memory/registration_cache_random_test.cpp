// Random wishes against a model that looks at everything it has, one after the other.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fake_nic.h"
#include "net/memory/registration_cache.h"

namespace rocelane::net {
namespace {

constexpr int kOperations = 100'000;
constexpr size_t kMostHeld = 200;

struct Modelled {
  uint32_t key = 0;
  RegistrationRequest wanted;
  size_t holders = 0;
  size_t holders_of_all = 0;
};

class Model {
 public:
  // The registrations that may serve `wanted`.
  std::vector<uint32_t> candidates(const RegistrationRequest& wanted) const {
    std::vector<uint32_t> keys;
    for (const Modelled& one : registrations_) {
      if (one.holders_of_all > 0 && one.wanted.sharing_class == wanted.sharing_class &&
          one.wanted.range.contains(wanted.range)) {
        keys.push_back(one.key);
      }
    }
    return keys;
  }

  void add(uint32_t key, const RegistrationRequest& wanted) {
    registrations_.push_back({key, wanted, 0, 0});
  }

  void hold(uint32_t key, const RegistrationRequest& wanted) {
    Modelled& one = *find(key);
    ++one.holders;
    one.holders_of_all += one.wanted.range == wanted.range ? 1U : 0U;
  }

  void let_go(uint32_t key, const RegistrationRequest& wanted) {
    const auto one = find(key);
    --one->holders;
    one->holders_of_all -= one->wanted.range == wanted.range ? 1U : 0U;
    if (one->holders == 0) {
      registrations_.erase(one);
    }
  }

  size_t size() const { return registrations_.size(); }

 private:
  std::vector<Modelled>::iterator find(uint32_t key) {
    return std::find_if(registrations_.begin(), registrations_.end(),
                        [key](const Modelled& one) { return one.key == key; });
  }

  std::vector<Modelled> registrations_;
};

class RandomWishes : public testing::Test {
 protected:
  struct Held {
    RegistrationRequest wanted;
    SharedRegistration shared;
  };

  uint64_t below(uint64_t end) { return random_() % end; }

  // Small numbers, so that ranges meet in every way.
  RegistrationRequest random_wish() {
    const uint64_t begin = below(40);
    const uint64_t end = begin + below(below(4) == 0 ? 40 : 6);
    switch (below(6)) {
      case 0:
        return host_memory(begin, end);
      case 1:
        return host_memory(begin, end, true);
      case 2:
        return gpu_memory(begin, end);
      case 3:
        return gpu_memory(begin, end, true);
      default:
        return dma_buf(begin, end, {8, below(2), 0}, static_cast<int>(below(3)));
    }
  }

  void share() {
    const RegistrationRequest wanted = random_wish();
    const std::vector<uint32_t> candidates = model_.candidates(wanted);
    const size_t before = nic_->registered();
    const bool nic_refuses = below(10) == 0;
    nic_->refuse_next(nic_refuses ? 1 : 0);
    auto shared = cache_->share(wanted);
    if (candidates.empty() && nic_refuses) {
      ASSERT_FALSE(shared.ok());
      ASSERT_EQ(nic_->registered(), before);
      return;
    }
    ASSERT_TRUE(shared.ok());
    const uint32_t key = shared->keys().local;
    if (candidates.empty()) {
      ASSERT_EQ(nic_->registered(), before + 1);
      model_.add(key, wanted);
    } else {
      ASSERT_EQ(nic_->registered(), before);
      ASSERT_NE(std::find(candidates.begin(), candidates.end(), key), candidates.end());
    }
    model_.hold(key, wanted);
    held_.push_back({wanted, std::move(*shared)});
    ++shared_;
    found_ += candidates.empty() ? 0U : 1U;
  }

  void let_go() {
    std::swap(held_.at(below(held_.size())), held_.back());
    const Held& gone = held_.back();
    ASSERT_TRUE(nic_->accepts(gone.shared.keys(), gone.wanted.range, gone.wanted.sharing_class));
    model_.let_go(gone.shared.keys().local, gone.wanted);
    held_.pop_back();
  }

  const uint32_t seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  std::shared_ptr<FakeNic> nic_ = FakeNic::create();
  std::shared_ptr<RegistrationCache> cache_ = nic_->cache();
  Model model_;
  std::vector<Held> held_;
  size_t shared_ = 0;
  size_t found_ = 0;
};

TEST_F(RandomWishes, AreServedAsTheModelServesThem) {
  RecordProperty("seed", std::to_string(seed_));
  for (int i = 0; i < kOperations; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_ << ", operation " << i);
    // Fills and empties in waves.
    const bool filling = (i / 1000) % 2 == 0;
    const bool shares = held_.empty() || below(10) < (filling ? 7U : 3U);
    if (shares && held_.size() < kMostHeld) {
      ASSERT_NO_FATAL_FAILURE(share());
    } else {
      ASSERT_NO_FATAL_FAILURE(let_go());
    }
    ASSERT_EQ(nic_->live(), model_.size());
  }
  EXPECT_GT(found_, shared_ / 4) << "the wishes do not meet: the test tests nothing";
  held_.clear();
  EXPECT_EQ(nic_->live(), 0U);
  EXPECT_EQ(nic_->registered(), nic_->deregistered());
}

}  // namespace
}  // namespace rocelane::net
