#include "base/nearest_name.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rocelane {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table; `before` is the row above `above`, needed for swapped neighbours.
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    above[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates,
                                             size_t most_edits) {
  std::optional<std::string_view> nearest;
  size_t fewest = most_edits + 1;
  for (const std::string_view candidate : candidates) {
    // The difference in length alone is a lower bound, which also keeps absurdly long names cheap.
    const size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= fewest) {
      continue;
    }
    const size_t edits = edit_distance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace rocelane
