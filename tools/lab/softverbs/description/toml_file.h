#pragma once

#include <optional>
#include <string_view>

#include "base/toml_library.h"
#include "softverbs/description/mistakes.h"

namespace rocelane::softverbs {

// The tables of a text that may hold anything; nothing after a mistake.
std::optional<toml::table> parse_toml(std::string_view text, Mistakes& mistakes);

}  // namespace rocelane::softverbs
