#pragma once

// Where the value of a row comes from. Only for files named settings*.

#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "base/settings_table.h"

namespace rocelane {

std::string_view trimmed(std::string_view text);

// Trimmed; an empty value counts as unset, as it does for NCCL.
std::string_view value_of(const Environment& environment, std::string_view name);

struct ChosenSource {
  SettingSource source;
  const FileEntry* entry = nullptr;  // in the file, when it is the source
};

// The first that says anything: our variable, the file, NCCL's variable, the default. Notes name
// those that say something else and lose; what they say is not judged.
ChosenSource choose_source(const Environment& environment, const SettingsFile& file,
                           const SettingRow& row, std::vector<std::string>& notes);

// For sentences, of what a user set: "NCCL_IB_TC=106", "traffic_class=106 in
// /etc/rocelane.toml:12".
std::string said(const SettingSource& source);

}  // namespace rocelane
