#pragma once

// How a text becomes the value of a setting: the functions that rows of settings_table.cpp name.
// All return false, and change nothing, when the text breaks the row's rule.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings_table.h"

namespace rocelane {

inline constexpr size_t kLongestText = 1024;

// Decimal or 0x…. A leading zero is refused: to NCCL it means octal, to everybody else it does not.
inline std::optional<int> parse_number(std::string_view text, int least, int most) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
    if (text.starts_with("-")) {
      return std::nullopt;
    }
  } else if (text.size() > 1 && text.front() == '0') {
    return std::nullopt;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    return std::nullopt;
  }
  return value;
}

template <auto Member>
bool assign_number(const SettingRow& row, std::string_view text, Settings& settings) {
  const std::optional<int> value = parse_number(text, row.least, row.most);
  if (value) {
    settings.*Member = *value;
  }
  return value.has_value();
}

template <auto Member, int Unit>
bool assign_multiple(const SettingRow& row, std::string_view text, Settings& settings) {
  const std::optional<int> value = parse_number(text, row.least, row.most);
  if (!value || *value % Unit != 0) {
    return false;
  }
  settings.*Member = *value;
  return true;
}

template <auto Member>
bool assign_number_or_auto(const SettingRow& row, std::string_view text, Settings& settings) {
  if (means_auto(text)) {
    settings.*Member = std::nullopt;
    return true;
  }
  const std::optional<int> value = parse_number(text, row.least, row.most);
  if (value) {
    settings.*Member = value;
  }
  return value.has_value();
}

// -1 is how NCCL's users write "I did not choose"; there is no automatic choice behind it.
template <auto Member>
bool assign_number_or_default(const SettingRow& row, std::string_view text, Settings& settings) {
  return assign_number<Member>(row, means_auto(text) ? row.default_text : text, settings);
}

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <auto Member, auto& Choices>
bool assign_choice(const SettingRow&, std::string_view text, Settings& settings) {
  for (const auto& choice : Choices) {
    if (same_word(choice.word, text)) {
      settings.*Member = choice.value;
      return true;
    }
  }
  return false;
}

inline bool is_printable(std::string_view text) {
  return text.size() <= kLongestText &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

template <auto Member>
bool assign_text(const SettingRow&, std::string_view text, Settings& settings) {
  if (!is_printable(text)) {
    return false;
  }
  settings.*Member = std::string(text);
  return true;
}

template <auto Member>
bool assign_absolute_path(const SettingRow& row, std::string_view text, Settings& settings) {
  return text.starts_with('/') && assign_text<Member>(row, text, settings);
}

inline bool assign_address_range(const SettingRow&, std::string_view text, Settings& settings) {
  const std::optional<AddressRange> range = parse_address_range(text);
  if (range || text.empty()) {
    settings.address_range = range;
  }
  return range || text.empty();
}

}  // namespace rocelane
