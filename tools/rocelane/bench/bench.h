#pragma once

#include "base/result.h"
#include "bench/options.h"
#include "bench/report.h"

namespace rocelane::bench {

// Measures as asked. kInvalidArgument: it cannot be done; others: a measurement failed.
Result<Report> measure(const Options& options);

}  // namespace rocelane::bench
