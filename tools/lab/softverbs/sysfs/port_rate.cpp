#include "softverbs/sysfs/port_rate.h"

#include <array>

#include <fmt/format.h>

namespace rocelane::softverbs {
namespace {

struct Speed {
  uint8_t code;
  double gigabits;  // of one lane
  const char* name;
};
// Those that Ethernet rates are made of.
constexpr std::array<Speed, 4> kSpeeds{
    {{4, 10, "QDR"}, {32, 25, "EDR"}, {64, 50, "HDR"}, {128, 100, "NDR"}}};

struct Width {
  uint8_t code;
  int lanes;
};
// The preferred one first.
constexpr std::array<Width, 4> kWidths{{{2, 4}, {1, 1}, {16, 2}, {4, 8}}};

}  // namespace

std::string PortRate::text() const {
  return fmt::format("{:g} Gb/sec ({}X {})", gigabits, lanes, speed_name);
}

PortRate port_rate(double bits_per_s) {
  PortRate best{
      .active_width = 1, .active_speed = 4, .lanes = 1, .gigabits = 10, .speed_name = "QDR"};
  for (const Width& width : kWidths) {
    for (const Speed& speed : kSpeeds) {
      const double gigabits = speed.gigabits * width.lanes;
      if (gigabits * 1e9 <= bits_per_s && gigabits > best.gigabits) {
        best = {width.code, speed.code, width.lanes, gigabits, speed.name};
      }
    }
  }
  return best;
}

}  // namespace rocelane::softverbs
