#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rocelane::nccl_host {

enum class Traffic : uint8_t {
  kPair,      // rank 2k sends to rank 2k + 1
  kExchange,  // rank 2k and rank 2k + 1 send to each other
  kRing,      // every rank sends to the next
  kAllToAll,  // every rank sends to every other
};

std::string_view name_of(Traffic traffic);
std::optional<Traffic> traffic_named(std::string_view name);

// A connection goes one way.
struct Route {
  int from = 0;
  int to = 0;
  friend bool operator==(const Route&, const Route&) = default;
};

// At least two ranks.
std::vector<Route> routes_of(Traffic traffic, int ranks);

}  // namespace rocelane::nccl_host
