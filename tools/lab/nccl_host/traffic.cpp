#include "nccl_host/traffic.h"

#include <array>

namespace rocelane::nccl_host {
namespace {

constexpr std::array kAll{Traffic::kPair, Traffic::kExchange, Traffic::kRing, Traffic::kAllToAll};

}  // namespace

std::string_view name_of(Traffic traffic) {
  switch (traffic) {
    case Traffic::kPair:
      return "pair";
    case Traffic::kExchange:
      return "exchange";
    case Traffic::kRing:
      return "ring";
    case Traffic::kAllToAll:
      return "all-to-all";
  }
  return "?";
}

std::optional<Traffic> traffic_named(std::string_view name) {
  for (const Traffic traffic : kAll) {
    if (name_of(traffic) == name) {
      return traffic;
    }
  }
  return std::nullopt;
}

std::vector<Route> routes_of(Traffic traffic, int ranks) {
  std::vector<Route> routes;
  for (int from = 0; from < ranks; ++from) {
    switch (traffic) {
      case Traffic::kPair:
        if (from % 2 == 0 && from + 1 < ranks) {
          routes.push_back({from, from + 1});
        }
        break;
      case Traffic::kExchange:
        if (const int other = from % 2 == 0 ? from + 1 : from - 1; other < ranks) {
          routes.push_back({from, other});
        }
        break;
      case Traffic::kRing:
        routes.push_back({from, (from + 1) % ranks});
        break;
      case Traffic::kAllToAll:
        for (int step = 1; step < ranks; ++step) {
          routes.push_back({from, (from + step) % ranks});
        }
        break;
    }
  }
  return routes;
}

}  // namespace rocelane::nccl_host
