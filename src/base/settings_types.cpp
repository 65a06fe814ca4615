#include <algorithm>

#include "base/settings_table.h"

namespace rocelane {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool means_auto(std::string_view text) { return same_word(text, "auto") || text == "-1"; }

std::string_view type_name(SettingType type) {
  switch (type) {
    case SettingType::kNumber:
      return "number";
    case SettingType::kNumberOrAuto:
      return "number or auto";
    case SettingType::kTrafficClassOrAuto:
      return "traffic class or auto";
    case SettingType::kChoice:
      return "choice";
    case SettingType::kDeviceList:
      return "list of devices";
    case SettingType::kInterfaceList:
      return "list of interfaces";
    case SettingType::kAddressRange:
      return "range of addresses";
    case SettingType::kFolder:
      return "folder";
  }
  return "";
}

bool is_number(SettingType type) {
  return type == SettingType::kNumber || type == SettingType::kNumberOrAuto ||
         type == SettingType::kTrafficClassOrAuto;
}

std::string key_of(const SettingRow& row) {
  std::string key(row.name.substr(kOurPrefix.size()));
  std::transform(key.begin(), key.end(), key.begin(), lower);
  return key;
}

bool may_be_written_as(const SettingRow& row, const FileEntry& entry) {
  switch (entry.kind) {
    case FileValueKind::kInteger:
      return is_number(row.type) || row.type == SettingType::kChoice;
    case FileValueKind::kFlag:
      return row.type == SettingType::kChoice;
    case FileValueKind::kText:
      return !is_number(row.type) || entry.text.empty() || same_word(entry.text, "auto");
    case FileValueKind::kOther:
      break;
  }
  return false;
}

}  // namespace rocelane
