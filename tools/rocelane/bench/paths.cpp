#include "bench/paths.h"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

namespace rocelane::bench {

std::vector<uint64_t> uplink_bytes(const std::string& counters_json) {
  const nlohmann::json counters = nlohmann::json::parse(counters_json, nullptr, false);
  std::vector<uint64_t> bytes;
  if (counters.is_discarded() || !counters.contains("links")) {
    return bytes;
  }
  for (const nlohmann::json& link : counters.at("links")) {
    const std::string name = link.at("name");
    if (name.starts_with("leaf") && name.find(">spine") != std::string::npos) {
      bytes.push_back(link.at("counters").at("bytes"));
    }
  }
  return bytes;
}

double fullest_to_mean(const std::vector<uint64_t>& bytes) {
  const auto sum = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
  if (sum == 0) {
    return 0;
  }
  return static_cast<double>(*std::ranges::max_element(bytes)) * static_cast<double>(bytes.size()) /
         sum;
}

}  // namespace rocelane::bench
