#include "collperf/size_plan.h"

#include <charconv>
#include <cmath>

namespace rocelane::collperf {
namespace {

std::optional<double> unit_bytes(std::string_view suffix) {
  if (suffix.empty()) {
    return 1.0;
  }
  if (suffix.size() > 1) {
    return std::nullopt;
  }
  switch (suffix.front()) {
    case 'k':
    case 'K':
      return 0x1p10;
    case 'm':
    case 'M':
      return 0x1p20;
    case 'g':
    case 'G':
      return 0x1p30;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<size_t> parse_size_bytes(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0)) {
    return std::nullopt;
  }
  const std::optional<double> unit = unit_bytes({rest, static_cast<size_t>(end - rest)});
  constexpr double kLargest = 0x1p62;
  if (!unit || number * *unit > kLargest) {
    return std::nullopt;
  }
  return static_cast<size_t>(std::floor(number * *unit));
}

std::vector<size_t> planned_sizes(const SizeRange& range) {
  std::vector<size_t> sizes;
  size_t size = range.min_bytes;
  while (size <= range.max_bytes) {
    sizes.push_back(size);
    const size_t next = range.multiplies() ? size * range.step_factor : size + range.step_bytes;
    if (next <= size) {
      break;
    }
    size = next;
  }
  return sizes;
}

}  // namespace rocelane::collperf
