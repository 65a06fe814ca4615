#pragma once

// Words of the files for numbers of the verbs and of the system. Pure; any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rocelane::softverbs {

// A word of a file and what it means.
template <class Meaning>
struct Word {
  std::string_view word;
  Meaning meaning;
};

// errno of "EPERM".
std::optional<int> parse_error_name(std::string_view name);

// "EPERM"; a number's digits when it has no name.
std::string error_name(int error);

// Every way in which a work request can end, with its ibv_wc_status and in that order.
std::span<const Word<int>> completion_status_words();

}  // namespace rocelane::softverbs
