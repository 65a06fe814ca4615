#pragma once

// Which device each rank gets, and who sends to whom. Decides only.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nccl_host/traffic.h"

namespace rocelane::bench {

using Place = std::vector<int>;  // numbers of devices used as one

// Two places: as asked ("soft_0+soft_1", by name or number), or the first devices for the sender
// and for the receiver those of the second host, when names tell hosts apart (host2/soft_0), else
// the next ones; where there are too few, both have the same.
Result<std::vector<Place>> choose_two_places(const std::vector<std::string>& devices,
                                             const std::vector<std::string>& asked, int rails,
                                             std::string_view net);

// Devices are named host3/soft_1. Routes between their numbers: the traffic among the hosts, on
// every rail by itself.
Result<std::vector<nccl_host::Route>> routes_between_hosts(const std::vector<std::string>& devices,
                                                           nccl_host::Traffic traffic);

}  // namespace rocelane::bench
