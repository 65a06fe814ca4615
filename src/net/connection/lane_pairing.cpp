#include "net/connection/lane_pairing.h"

#include <algorithm>
#include <numeric>

#include "net/connection/handshake_message.h"

namespace rocelane::net {
namespace {

// One place is left for a lane of small messages.
constexpr size_t kMostLanes = kMaxDataLanes - 1;

uint64_t sum_of(std::span<const int> speeds) {
  return std::accumulate(speeds.begin(), speeds.end(), uint64_t{0});
}

// How many lanes serve every rail of both ends once: the fewest that can be in proportion.
size_t lanes_of_one_round(std::span<const int> speeds, size_t peer_rails) {
  const auto slowest = static_cast<uint64_t>(*std::min_element(speeds.begin(), speeds.end()));
  return std::max(peer_rails, static_cast<size_t>((sum_of(speeds) + slowest - 1) / slowest));
}

}  // namespace

std::vector<uint8_t> spread_lanes(std::span<const int> speeds, size_t peer_rails,
                                  int lanes_a_rail) {
  const size_t round = lanes_of_one_round(speeds, peer_rails);
  const size_t rounds =
      std::clamp<size_t>(kMostLanes / round, 1, static_cast<size_t>(std::max(lanes_a_rail, 1)));
  const size_t count = std::min(rounds * round, kMostLanes);
  // One after the other goes where it is missed most, as seats of a parliament do by odd divisors.
  std::vector<uint64_t> divisors(speeds.size(), 1);
  std::vector<uint8_t> rails;
  while (rails.size() < count) {
    size_t best = 0;
    for (size_t rail = 1; rail < speeds.size(); ++rail) {
      if (static_cast<uint64_t>(speeds[rail]) * divisors[best] >
          static_cast<uint64_t>(speeds[best]) * divisors[rail]) {
        best = rail;
      }
    }
    divisors[best] += 2;
    rails.push_back(static_cast<uint8_t>(best));
  }
  return rails;
}

std::vector<uint8_t> match_lanes(std::span<const uint8_t> peer_rails, std::span<const int> speeds) {
  std::vector<size_t> order(peer_rails.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return peer_rails[a] < peer_rails[b]; });
  std::vector<uint8_t> rails(peer_rails.size());
  const uint64_t total = sum_of(speeds);
  size_t rail = 0;
  auto end_of_rail = static_cast<uint64_t>(speeds[0]);
  for (size_t place = 0; place < order.size(); ++place) {
    // The middle of the lane's part, on a line of the length `total`; no division, so nothing is
    // rounded.
    while ((2 * place + 1) * total >= 2 * order.size() * end_of_rail) {
      end_of_rail += static_cast<uint64_t>(speeds[++rail]);
    }
    rails[order[place]] = static_cast<uint8_t>(rail);
  }
  return rails;
}

}  // namespace rocelane::net
