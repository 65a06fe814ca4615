#pragma once

// How many bytes a port counted in each of the eight priorities of Ethernet, from the statistics of
// its interface. Every driver has its own names; some count no bytes by priority at all.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rocelane::telemetry {

constexpr size_t kPriorities = 8;

struct Statistic {
  std::string name;  // as the driver spells it, e.g. "tx_prio3_bytes"
  uint64_t value = 0;
};

struct PriorityBytes {
  std::array<uint64_t, kPriorities> sent{};
  std::array<uint64_t, kPriorities> received{};
};

// Nothing unless all eight priorities are counted in both directions: a missing one might be the
// one that matters. Knows the names of mlx5, mlx4 and bnxt_en. What irdma's interfaces (ice, i40e)
// count by priority is pauses, not bytes.
std::optional<PriorityBytes> priority_bytes(std::span<const Statistic> statistics);

}  // namespace rocelane::telemetry
