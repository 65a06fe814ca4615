#include "softverbs/description/name_pattern.h"

#include <cstddef>

namespace rocelane::softverbs {

bool matches(std::string_view pattern, std::string_view name) {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0;
  size_t in_name = 0;
  // Only the latest * ever needs to take more: what an earlier one took may stay as it is.
  size_t star = kNone;
  size_t taken_to = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_to = in_name;
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at;
      ++in_name;
    } else if (star != kNone) {
      at = star + 1;
      in_name = ++taken_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == kNone;
}

LinkPattern parse_link_pattern(std::string_view text) {
  const size_t one_way = text.find('>');
  const size_t separator = one_way != std::string_view::npos ? one_way : text.find('-');
  if (separator == std::string_view::npos) {
    return {text, std::nullopt, true};
  }
  return {text.substr(0, separator), text.substr(separator + 1), one_way == std::string_view::npos};
}

}  // namespace rocelane::softverbs
