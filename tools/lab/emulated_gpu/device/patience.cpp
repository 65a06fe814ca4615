#include "device/patience.h"

#include <sched.h>
#include <time.h>

namespace rocelane::lab {

void Patience::pause() {
  constexpr int kYields = 48;
  constexpr int kShortSleeps = 1000;
  constexpr long kShortNanoseconds = 20'000;
  constexpr long kLongNanoseconds = 50'000;
  ++idle_rounds_;
  if (idle_rounds_ <= kYields) {
    sched_yield();
    return;
  }
  const bool is_short = idle_rounds_ <= kYields + kShortSleeps;
  const timespec time = {.tv_sec = 0, .tv_nsec = is_short ? kShortNanoseconds : kLongNanoseconds};
  nanosleep(&time, nullptr);
}

}  // namespace rocelane::lab
