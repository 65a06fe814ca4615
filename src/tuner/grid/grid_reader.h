#pragma once

#include <string_view>

#include "base/result.h"
#include "tuner/grid/grid.h"

namespace rocelane::tuner {

// Reads comma-separated values whose first line names the columns, in any order: cluster,
// collective, nodes, ranks, bytes, algo, proto, channels, time_us and config are needed, others are
// ignored. A row with config "default" says what NCCL did by itself. Of several rows for the same
// choice the median counts (of an even number, the mean of the middle two): the fastest would be
// the luckiest. A row with no plain channel count has 0, and so have empty nodes and ranks. `name`
// is for sentences. Pure. A wrong file is refused with line and field.
Result<Grids> read_grids(std::string_view text, std::string_view name);

}  // namespace rocelane::tuner
