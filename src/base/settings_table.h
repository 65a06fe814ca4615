#pragma once

// One row a setting; loader, report, documentation and example file follow from it. Only for files
// named settings*.

#include <array>
#include <string>
#include <string_view>

#include "base/settings.h"

namespace rocelane {

inline constexpr std::string_view kOurPrefix = "ROCELANE_";

// No row: it says where the rows' values are.
inline constexpr std::string_view kConfigFileVariable = "ROCELANE_CONFIG_FILE";

enum class SettingType : uint8_t {
  kNumber,
  kNumberOrAuto,
  kTrafficClassOrAuto,
  kChoice,
  kDeviceList,
  kInterfaceList,
  kAddressRange,
  kFolder,
};

struct SettingRow;

// Stores the value; false when the text breaks the row's rule.
using AssignSetting = bool (*)(const SettingRow& row, std::string_view text, Settings& settings);

struct SettingRow {
  Setting id;
  std::string_view name;
  std::string_view alias;  // what NCCL's own transport calls it; empty when it has nothing like it
  SettingType type;
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
const SettingRow& row_of(Setting setting);

bool same_word(std::string_view a, std::string_view b);  // whatever the case of ASCII letters
bool means_auto(std::string_view text);                  // "auto", or NCCL's -1

std::string_view type_name(SettingType type);  // "number or auto"
bool is_number(SettingType type);              // or auto

// The key in a settings file: "traffic_class" for ROCELANE_TRAFFIC_CLASS.
std::string key_of(const SettingRow& row);

// Whether a settings file may write a value like this; what the value means is up to row.assign.
bool may_be_written_as(const SettingRow& row, const FileEntry& entry);

}  // namespace rocelane
