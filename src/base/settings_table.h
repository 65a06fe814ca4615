#pragma once

// One row a setting; loader, report and documentation follow from it. Only for files named
// settings*.

#include <array>
#include <span>
#include <string_view>

#include "base/settings.h"

namespace rocelane {

struct SettingRow;

// Stores the value; false when the text breaks the row's rule.
using AssignSetting = bool (*)(const SettingRow& row, std::string_view text, Settings& settings);

struct SettingRow {
  Setting id;
  std::string_view name;
  std::string_view alias;  // what NCCL's own transport calls it; empty when it has nothing like it
  std::string_view type;
  std::string_view default_text;  // read like a user's value
  int least;                      // numbers only
  int most;
  std::string_view unit;
  std::string_view
      rule;  // one clause, shown when a value breaks it: "a traffic class is 0..255 (…)"
  std::string_view meaning;
  AssignSetting assign;
};

// In the order of enum Setting.
const std::array<SettingRow, kSettingCount>& setting_table();

}  // namespace rocelane
