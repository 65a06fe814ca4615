#include "net/device/name_list.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace rocelane::net {
namespace {

constexpr size_t kMostEntries = 256;
constexpr int kLargestNumber = 65535;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

// Takes what stands before the next separator off the front of `rest`.
std::string_view next_field(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return trimmed(field);
}

Error mistake(std::string_view source, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}; correct or unset it", source, what)};
}

Result<std::optional<int>> parse_number(std::string_view field, std::string_view entry,
                                        std::string_view source) {
  if (field.empty()) {
    return std::optional<int>{};
  }
  int number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc{} || end != field.data() + field.size() || number < 0 ||
      number > kLargestNumber) {
    return mistake(source, fmt::format("'{}' in '{}' is not a number from 0 to {}", field, entry,
                                       kLargestNumber));
  }
  return std::optional<int>{number};
}

Result<NameListEntry> parse_entry(std::string_view text, std::string_view source,
                                  size_t most_numbers) {
  NameListEntry entry;
  std::string_view rest = text;
  const bool ends_in_colon = text.ends_with(':');
  entry.name = next_field(rest, ':');
  if (entry.name.empty()) {
    return mistake(source, fmt::format("'{}' has no name before the colon", text));
  }
  if (entry.name.find_first_of("^=") != std::string::npos) {
    return mistake(source, fmt::format("'{}' has ^ or = inside; they go before the whole list, "
                                       "as ^, = or ^=",
                                       text));
  }
  while (!rest.empty()) {
    Result<std::optional<int>> number = parse_number(next_field(rest, ':'), text, source);
    if (!number) {
      return std::move(number).error();
    }
    entry.numbers.push_back(*number);
  }
  const size_t colons = entry.numbers.size() + (ends_in_colon && !entry.numbers.empty() ? 1 : 0);
  if (colons > most_numbers) {
    return mistake(source,
                   most_numbers == 0
                       ? fmt::format("'{}' has a colon, and this list holds names only", text)
                       : fmt::format("'{}' has more than {} numbers", text, most_numbers));
  }
  return entry;
}

}  // namespace

Result<NameList> parse_name_list(std::string_view text, std::string_view source,
                                 size_t most_numbers) {
  NameList list;
  std::string_view rest = trimmed(text);
  const bool is_empty = rest.empty();
  if (rest.starts_with('^')) {
    list.exclude = true;
    rest.remove_prefix(1);
  }
  if (rest.starts_with('=')) {
    list.exact = true;
    rest.remove_prefix(1);
  }
  while (!rest.empty()) {
    const std::string_view field = next_field(rest, ',');
    if (field.empty()) {
      continue;
    }
    if (list.entries.size() == kMostEntries) {
      return mistake(source, fmt::format("the list has more than {} entries", kMostEntries));
    }
    Result<NameListEntry> entry = parse_entry(field, source, most_numbers);
    if (!entry) {
      return std::move(entry).error();
    }
    list.entries.push_back(std::move(entry).value());
  }
  if (list.entries.empty() && !is_empty) {
    return mistake(source, "the list has no name");
  }
  return list;
}

bool is_listed(const NameList& list, std::string_view name) {
  return std::any_of(list.entries.begin(), list.entries.end(), [&](const NameListEntry& entry) {
    return list.exact ? name == entry.name : name.starts_with(entry.name);
  });
}

}  // namespace rocelane::net
