#include "base/tick_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rocelane {
namespace {

static_assert(Clock::period::num == 1 && Clock::period::den == 1'000'000'000);

#if defined(__x86_64__)
bool has_constant_rate() {
  constexpr unsigned kPowerManagement = 0x80000007;
  constexpr unsigned kInvariantCounter = 1U << 8U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
}

// 2^32 times the nanoseconds of a tick.
uint64_t measure() {
  constexpr std::chrono::milliseconds kLong{1};
  const TimePoint begin = Clock::now();
  const uint64_t first = __rdtsc();
  TimePoint end = Clock::now();
  while (end - begin < kLong) {
    end = Clock::now();
  }
  const uint64_t ticks = __rdtsc() - first;
  const auto passed = static_cast<double>((end - begin).count());
  return ticks == 0 ? 0 : static_cast<uint64_t>(passed * 0x1p32 / static_cast<double>(ticks));
}
#endif

}  // namespace

const TickClock& TickClock::instance() {
  static const TickClock clock;
  return clock;
}

TickClock::TickClock() {
#if defined(__x86_64__)
  if (const uint64_t rate = has_constant_rate() ? measure() : 0; rate != 0) {
    constant_rate_ = true;
    nanoseconds_2_32_ = rate;
  }
#endif
}

}  // namespace rocelane
