#pragma once

// Asks the kernel about the queues of a network interface. Both calls need no rights, block for as
// long as the driver takes, and see only interfaces of the caller's network namespace.

#include <string>
#include <vector>

#include "base/result.h"
#include "net/health/priority_counters.h"
#include "net/health/queue_check.h"

namespace rocelane::telemetry {

// What `ethtool -S` lists. Empty for an interface that counts nothing of its own.
Result<std::vector<Statistic>> read_interface_statistics(const std::string& interface);

// What `dcb pfc show` and `dcb app show` tell.
Result<QueueRules> read_queue_rules(const std::string& interface);

}  // namespace rocelane::telemetry
