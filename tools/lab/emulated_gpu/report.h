#pragma once

#include <string_view>

namespace rocelane::lab {

// Writes one line for a person to stderr, whole even when several threads report at once.
void report(std::string_view sentence);

}  // namespace rocelane::lab
