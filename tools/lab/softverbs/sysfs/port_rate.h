#pragma once

#include <cstdint>
#include <string>

namespace rocelane::softverbs {

// A rate in the terms of InfiniBand: a number of lanes and the speed of each.
struct PortRate {
  uint8_t active_width = 2;   // as in ibv_port_attr: 1, 2, 4, 16 for 1, 4, 8, 2 lanes
  uint8_t active_speed = 32;  // as in ibv_port_attr: 4 QDR, 32 EDR, 64 HDR, 128 NDR
  int lanes = 4;
  double gigabits = 100;
  const char* speed_name = "EDR";

  // "100 Gb/sec (4X EDR)"
  std::string text() const;
};

// Four lanes where they make up the rate, else one, two or eight. A rate that none make up becomes
// the next lower one, or the lowest there is.
PortRate port_rate(double bits_per_s);

}  // namespace rocelane::softverbs
