#pragma once

#include <cstdint>
#include <vector>

#include "nccl_host/seeded_random.h"

namespace rocelane::nccl_host {

// Who takes a step, in which order, when one loop plays all threads. The same for the same seed.
class Schedule {
 public:
  Schedule(uint64_t seed, size_t actors);

  // Numbers of actors, each at most once: in every round some threads get no processor.
  const std::vector<size_t>& next_round();

 private:
  SeededRandom random_;
  std::vector<size_t> everybody_;
  std::vector<size_t> round_;
};

}  // namespace rocelane::nccl_host
