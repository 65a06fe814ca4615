#include "softverbs/engine/timers.h"

#include <array>

namespace rocelane::softverbs {

uint64_t acknowledgement_timeout_ns(uint8_t exponent) {
  constexpr uint64_t kUnit = 4096;
  return exponent == 0 ? 0 : kUnit << (exponent & 31U);
}

uint64_t receiver_not_ready_ns(uint8_t code) {
  constexpr std::array<uint32_t, 32> kMicroseconds{
      655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
      480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
      20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};
  return uint64_t{kMicroseconds[code & 31U]} * 1000;
}

}  // namespace rocelane::softverbs
