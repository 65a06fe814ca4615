#include "nccl_host/schedule.h"

#include <numeric>

namespace rocelane::nccl_host {
namespace {

constexpr uint64_t kLeftOutOneIn = 8;

}  // namespace

Schedule::Schedule(uint64_t seed, size_t actors) : random_(seed), everybody_(actors) {
  std::iota(everybody_.begin(), everybody_.end(), size_t{0});
}

const std::vector<size_t>& Schedule::next_round() {
  random_.shuffle(everybody_);
  round_.clear();
  for (const size_t actor : everybody_) {
    if (!random_.one_in(kLeftOutOneIn)) {
      round_.push_back(actor);
    }
  }
  return round_;
}

}  // namespace rocelane::nccl_host
