#include "nccl_host/schedule.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace rocelane::nccl_host {
namespace {

std::vector<std::vector<size_t>> rounds(uint64_t seed, size_t actors, int count) {
  Schedule schedule(seed, actors);
  std::vector<std::vector<size_t>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(schedule.next_round());
  }
  return all;
}

TEST(Schedule, IsTheSameForTheSameSeed) {
  EXPECT_EQ(rounds(3, 10, 50), rounds(3, 10, 50));
  EXPECT_NE(rounds(3, 10, 50), rounds(4, 10, 50));
}

TEST(Schedule, LetsNobodyActTwiceInARoundAndNobodyStarve) {
  std::vector<int> turns(7);
  for (const auto& round : rounds(1, 7, 400)) {
    EXPECT_EQ(std::set<size_t>(round.begin(), round.end()).size(), round.size());
    for (const size_t actor : round) {
      ++turns.at(actor);
    }
  }
  EXPECT_GT(*std::ranges::min_element(turns), 300);
  EXPECT_LT(*std::ranges::max_element(turns), 400) << "every thread is late now and then";
}

}  // namespace
}  // namespace rocelane::nccl_host
