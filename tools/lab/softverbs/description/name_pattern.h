#pragma once

// Names of devices and links as files write them. Pure; any thread.

#include <optional>
#include <string_view>

namespace rocelane::softverbs {

// Whether `name` is what `pattern` says, where each * stands for any characters, also none.
bool matches(std::string_view pattern, std::string_view name);

// "A-B" is both directions of a cable, "A>B" one of them, "A" alone every link from or to A.
// Views into the text it was read from.
struct LinkPattern {
  std::string_view from;
  std::optional<std::string_view> to;
  bool both_directions = false;
};

LinkPattern parse_link_pattern(std::string_view text);

}  // namespace rocelane::softverbs
