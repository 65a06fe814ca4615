#include "tuner/grid/csv_line.h"

#include <cstddef>

namespace rocelane::tuner {

std::optional<std::vector<std::string>> split_csv_line(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char character = line[at];
    if (character == '"') {
      if (quoted && at + 1 < line.size() && line[at + 1] == '"') {
        fields.back() += '"';
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (character == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += character;
    }
  }
  if (quoted) {
    return std::nullopt;
  }
  return fields;
}

}  // namespace rocelane::tuner
