#pragma once

// Time for the data path: reading it costs a few instructions, and no system call where the
// processor has a counter of constant rate. For differences only.

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"

namespace rocelane {

class TickClock {
 public:
  // Compares the counter with the clock for about a millisecond, the first time in a process.
  static const TickClock& instance();

  uint64_t now() const {
#if defined(__x86_64__)
    if (constant_rate_) {
      return __rdtsc();
    }
#endif
    return static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  }
  uint64_t nanoseconds(uint64_t ticks) const {
    return static_cast<uint64_t>(static_cast<Wide>(ticks) * nanoseconds_2_32_ >> 32U);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  TickClock();

  bool constant_rate_ = false;
  uint64_t nanoseconds_2_32_ = uint64_t{1} << 32U;  // of a tick
};

}  // namespace rocelane
