#include "base/settings_sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/settings_names.h"

namespace rocelane {
namespace {

const FileEntry* find_entry(const SettingsFile& file, const SettingRow& row) {
  const std::string key = key_of(row);
  const auto found = std::find_if(file.entries.begin(), file.entries.end(),
                                  [&key](const FileEntry& entry) { return entry.key == key; });
  return found == file.entries.end() ? nullptr : &*found;
}

void add_variable(const Environment& environment, std::string_view name, SettingOrigin origin,
                  std::vector<ChosenSource>& sources) {
  if (const std::string_view value = value_of(environment, name); !value.empty()) {
    sources.push_back({{origin, std::string(name), std::string(value), ""}, nullptr});
  }
}

void add_entry(const SettingsFile& file, const SettingRow& row,
               std::vector<ChosenSource>& sources) {
  const FileEntry* const entry = find_entry(file, row);
  if (entry == nullptr) {
    return;
  }
  if (const std::string_view value = trimmed(entry->text); !value.empty()) {
    sources.push_back(
        {{SettingOrigin::kFile, entry->key, std::string(value), place_in(file, entry->line)},
         entry});
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return name.empty() || found == environment.end() ? std::string_view{} : trimmed(found->second);
}

ChosenSource choose_source(const Environment& environment, const SettingsFile& file,
                           const SettingRow& row, std::vector<std::string>& notes) {
  std::vector<ChosenSource> sources;
  add_variable(environment, row.name, SettingOrigin::kVariable, sources);
  add_entry(file, row, sources);
  add_variable(environment, row.alias, SettingOrigin::kAlias, sources);
  if (sources.empty()) {
    return {{SettingOrigin::kDefault, "", std::string(row.default_text), ""}, nullptr};
  }
  const SettingSource& winner = sources.front().source;
  for (const auto& [loser, entry] : sources) {
    if (loser.text != winner.text) {
      notes.push_back(fmt::format("{} wins over {}", said(winner), said(loser)));
    }
  }
  return sources.front();
}

std::string said(const SettingSource& source) {
  return fmt::format("{}={}{}{}", shown(source.name), shown(source.text),
                     source.place.empty() ? "" : " in ", source.place);
}

}  // namespace rocelane
