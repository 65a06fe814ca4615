#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rocelane::bench {

// Bytes that softverbs' counters (docs/lab.md) show on each link from a leaf to a spine, in their
// order.
std::vector<uint64_t> uplink_bytes(const std::string& counters_json);

// The fullest path against the mean of all: 1 is even. 0 when nothing was sent.
double fullest_to_mean(const std::vector<uint64_t>& bytes);

}  // namespace rocelane::bench
