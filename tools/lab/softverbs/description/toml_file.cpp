#include "softverbs/description/toml_file.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/settings_names.h"

namespace rocelane::softverbs {
namespace {

// toml++ bounds how deep values nest but not how many parts a dotted key has, and it walks its
// tables recursively. Counting dots per line bounds that without knowing what is a key.
constexpr ptrdiff_t kMostDots = 256;  // in a line

std::optional<size_t> line_with_too_many_dots(std::string_view text) {
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    if (std::count(content.begin(), content.end(), '.') > kMostDots) {
      return line;
    }
    text.remove_prefix(std::min(content.size() + 1, text.size()));
  }
  return std::nullopt;
}

// toml++ 3.3 reaches undefined behaviour at some characters outside quotes, for example at an é.
// Nothing in our files needs more than ASCII, except comments, where nobody sees the difference.
std::string in_ascii(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::string ascii(text);
  std::replace_if(
      ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7F; }, '?');
  return ascii;
}

bool refuse_size(std::string_view text, Mistakes& mistakes) {
  // A thousand hosts with a line for each device and link are a tenth of this.
  constexpr size_t kMostBytes = 1 << 20;
  if (text.size() > kMostBytes) {
    mistakes.add(1, "", fmt::format("the file has {} bytes", text.size()),
                 fmt::format("at most {}; * stands for many names at once", kMostBytes));
  } else if (const std::optional<size_t> line = line_with_too_many_dots(text)) {
    mistakes.add(*line, "", fmt::format("this line has more than {} dots", kMostDots),
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
