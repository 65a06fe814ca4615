#pragma once

// Whether a header can be believed. A page is read as if a stranger had written it.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

// Success: all tables lie inside the page, the page inside the file, and every slot is at least as
// long as ours of version 1. `path` is for the sentence.
Status check_header(const PageHeader& header, uint64_t file_bytes, const std::string& path);

// Text of a field that need not end with NUL. What no terminal should see becomes '?'.
template <size_t kSize>
std::string text_of(const char (&field)[kSize]) {
  std::string text;
  for (size_t i = 0; i < kSize && field[i] != '\0'; ++i) {
    text.push_back(field[i] >= ' ' && field[i] <= '~' ? field[i] : '?');
  }
  return text;
}

// An enumerator, or the one for "unknown" (0) when a page has one we do not know.
template <class Enum>
Enum known_or_unknown(Enum value, Enum last) {
  return static_cast<uint32_t>(value) <= static_cast<uint32_t>(last) ? value : Enum{};
}

}  // namespace rocelane::telemetry
