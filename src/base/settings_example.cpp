#include "base/settings_example.h"

#include <string_view>

#include <fmt/format.h>

#include "base/settings_table.h"

namespace rocelane {
namespace {

constexpr std::string_view kHead =
    R"(# Settings of Rocelane. Copy this file, remove the # before what you want to change, and name the copy:
#
#   ROCELANE_CONFIG_FILE=/etc/rocelane.toml
#
# A ROCELANE_ variable wins over this file, and this file over an NCCL_ variable. Every value below is the
# default. docs/settings.md says more.
)";

// Comment lines that hold `text`, broken between words.
std::string comment(std::string_view text) {
  constexpr size_t kWidth = 100;
  std::string lines;
  std::string line = "#";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + (word.size() < text.size() ? 1 : 0));
    if (line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line.resize(1);
    }
    line += fmt::format(" {}", word);
  }
  return lines + line + "\n";
}

std::string names_of(const SettingRow& row) {
  return row.alias.empty() ? std::string(row.name)
                           : fmt::format("{}, or {} of NCCL", row.name, row.alias);
}

std::string default_value(const SettingRow& row) {
  const bool bare = is_number(row.type) && !means_auto(row.default_text);
  return bare ? std::string(row.default_text) : fmt::format("\"{}\"", row.default_text);
}

}  // namespace

std::string settings_example() {
  std::string file(kHead);
  for (const SettingRow& row : setting_table()) {
    file += fmt::format(
        "\n{}{}{}#{} = {}\n", comment(row.meaning), comment(fmt::format("Rule: {}.", row.rule)),
        comment(fmt::format("Variable: {}.", names_of(row))), key_of(row), default_value(row));
  }
  return file;
}

}  // namespace rocelane
