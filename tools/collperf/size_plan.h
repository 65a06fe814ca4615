#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace rocelane::collperf {

// "8", "32K", "1.5M", "2G": K, M and G are powers of 1024. Nothing for anything else.
std::optional<size_t> parse_size_bytes(std::string_view text);

struct SizeRange {
  size_t min_bytes = 32U << 20;
  size_t max_bytes = 32U << 20;
  size_t step_bytes = 1U << 20;
  size_t step_factor = 1;  // above 1 it is used and step_bytes is not

  bool multiplies() const { return step_factor > 1; }
};

// min, then up by the step, never above max.
std::vector<size_t> planned_sizes(const SizeRange& range);

}  // namespace rocelane::collperf
