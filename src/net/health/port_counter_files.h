#pragma once

// The counters that the kernel shows of a port, by what they mean: every driver has its own names.

#include <string>

#include "net/health/recorders.h"

namespace rocelane::telemetry {

// `port_folder`: e.g. "/sys/class/infiniband/mlx5_0/ports/1". What is missing, unreadable or no
// number is left out. Blocks for as long as the driver takes to ask its device.
PortCounters read_port_counters(const std::string& port_folder);

}  // namespace rocelane::telemetry
