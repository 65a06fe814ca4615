#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/settings.h"

namespace rocelane {

// A value or name that comes from outside, made fit for one line of a log: no control characters,
// bounded length.
std::string shown(std::string_view text);

// Judges a variable that is no setting of ours: a sentence when its name is probably a misspelt
// one.
std::optional<std::string> judge_unknown_name(std::string_view name, std::string_view value);

// The same for a key of the settings file; `place` is "file:line".
std::string judge_unknown_key(std::string_view key, std::string_view place);

}  // namespace rocelane
