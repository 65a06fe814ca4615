#pragma once

#include <chrono>

namespace rocelane {

// Machines take the time as an argument; only doors and threads read this clock.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

}  // namespace rocelane
