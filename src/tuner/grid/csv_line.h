#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocelane::tuner {

// The fields of one line of comma-separated values. A field in double quotes may hold commas, and a
// doubled quote for one quote; std::nullopt when a quote is never closed. Pure.
std::optional<std::vector<std::string>> split_csv_line(std::string_view line);

}  // namespace rocelane::tuner
