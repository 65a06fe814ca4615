#include "softverbs/description/toml_file.h"

#include <string>

#include <fmt/format.h>

#include "base/settings_names.h"

namespace rocelane::softverbs {
namespace {

bool refuse_size(std::string_view text, Mistakes& mistakes) {
  // A thousand hosts with a line for each device and link are a tenth of this.
  constexpr size_t kMostBytes = 1 << 20;
  if (text.size() > kMostBytes) {
    mistakes.add(1, "", fmt::format("the file has {} bytes", text.size()),
                 fmt::format("at most {}; * stands for many names at once", kMostBytes));
  } else if (const std::optional<size_t> line = line_with_too_many_dots(text)) {
    mistakes.add(*line, "", fmt::format("this line has more than {} dots", kMostTomlDots),
                 "shorter keys, or a list on several lines");
  }
  return mistakes.any();
}

}  // namespace

std::optional<toml::table> parse_toml(std::string_view text, Mistakes& mistakes) {
  if (refuse_size(text, mistakes)) {
    return std::nullopt;
  }
  toml::parse_result result = toml::parse(in_ascii(text));
  if (result.failed()) {
    mistakes.add(result.error().source().begin.line, "",
                 fmt::format("this is not TOML: {}", shown(result.error().description())),
                 "for example spines = 4 or kind = \"leaf-spine\"");
    return std::nullopt;
  }
  return std::move(result).table();
}

}  // namespace rocelane::softverbs
