#pragma once

// toml++ as we use it: a syntax error is a value and not an exception, and nothing to link. Its
// assertions are off in every build, because they also strike at input that the code behind them
// refuses properly ("[." in 3.3).
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace rocelane {

// What text has to go through before toml++ may see it.

// toml++ bounds how deep values nest but not how many parts a dotted key has, and it walks its
// tables recursively. Counting dots per line bounds that without knowing what is a key. The first
// line that has more.
inline constexpr ptrdiff_t kMostTomlDots = 256;
std::optional<size_t> line_with_too_many_dots(std::string_view text);

// toml++ 3.3 reaches undefined behaviour at some characters outside quotes, for example at an é.
// They become kForeignCharacter; a byte order mark goes. In comments nobody sees the difference.
inline constexpr char kForeignCharacter = '?';
bool is_ascii(char c);
std::string in_ascii(std::string_view text);

// "a list", "text in quotes"
std::string_view kind_name(const toml::node& node);

}  // namespace rocelane
