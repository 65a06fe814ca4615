#pragma once

// The kinds of measurements, one file each. Results go into the referee's report.

#include "base/result.h"
#include "bench/referee.h"

namespace rocelane::bench {

Status measure_sizes(Referee& referee);
Status measure_idle(Referee& referee);
Status measure_set_up(Referee& referee);
Status measure_spread(Referee& referee);

// From a sending to a receiving rank, and back.
inline constexpr nccl_host::Route kThere{0, 1};
inline constexpr nccl_host::Route kBack{1, 0};

}  // namespace rocelane::bench
