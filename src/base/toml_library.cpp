#include "base/toml_library.h"

#include <algorithm>

namespace rocelane {

std::optional<size_t> line_with_too_many_dots(std::string_view text) {
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    if (std::count(content.begin(), content.end(), '.') > kMostTomlDots) {
      return line;
    }
    text.remove_prefix(std::min(content.size() + 1, text.size()));
  }
  return std::nullopt;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) <= 0x7F; }

std::string in_ascii(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::string ascii(text);
  std::replace_if(
      ascii.begin(), ascii.end(), [](char c) { return !is_ascii(c); }, kForeignCharacter);
  return ascii;
}

std::string_view kind_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text in quotes";
    case toml::node_type::integer:
      return "a number without quotes";
    case toml::node_type::floating_point:
      return "a number with a decimal point";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace rocelane
