#include "base/settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings_names.h"
#include "base/settings_nccl_names.h"
#include "base/settings_sources.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

SettingsFile read_settings_file(const Environment& environment, const ReadTextFile& read_file,
                                std::vector<std::string>& mistakes) {
  const std::string path(value_of(environment, kConfigFileVariable));
  if (path.empty()) {
    return {};
  }
  const Result<std::string> text = read_file(path);
  Result<SettingsFile> file =
      text.ok() ? parse_settings_file(path, *text) : Result<SettingsFile>(text.error());
  if (!file) {
    mistakes.push_back(fmt::format("{}: {}", kConfigFileVariable, file.error().what));
    return {};
  }
  return std::move(file).value();
}

// Gives the row its value, or a mistake and its default when the text is wrong.
void take_value(const SettingRow& row, const ChosenSource& chosen, JudgedSettings& judged) {
  judged.settings.sources[static_cast<size_t>(row.id)] = chosen.source;
  if (chosen.entry != nullptr && !may_be_written_as(row, *chosen.entry)) {
    judged.mistakes.push_back(
        fmt::format("{} is {}: {}", said(chosen.source), chosen.entry->kind_name, row.rule));
  } else if (row.assign(row, chosen.source.text, judged.settings)) {
    return;
  } else {
    judged.mistakes.push_back(fmt::format("{}: {}", said(chosen.source), row.rule));
  }
  row.assign(row, row.default_text, judged.settings);
}

// Values that are legal alone and wrong together.
void judge_together(JudgedSettings& judged) {
  const Settings& settings = judged.settings;
  const bool unlike = settings.address_range && settings.address_family != AddressFamily::kAny &&
                      family_of(*settings.address_range) != settings.address_family;
  if (unlike) {
    judged.mistakes.push_back(
        fmt::format("{} and {} exclude each other: the range is of the other address family",
                    where_from(settings, Setting::kAddressRange),
                    where_from(settings, Setting::kAddressFamily)));
  }
}

bool is_a_variable(std::string_view name) {
  const auto& table = setting_table();
  return name == kConfigFileVariable ||
         std::any_of(table.begin(), table.end(), [name](const SettingRow& row) {
           return row.name == name || row.alias == name;
         });
}

void judge_variable_names(const Environment& environment, Settings& settings) {
  std::vector<std::string_view> without_effect;
  for (const auto& [name, value] : environment) {
    if (is_a_variable(name)) {
      continue;
    }
    if (has_no_effect_here(name) && !value.empty()) {
      without_effect.push_back(name);
    } else if (auto warning = judge_unknown_name(name, trimmed(value))) {
      settings.warnings.push_back(std::move(*warning));
    }
  }
  if (auto note = note_on_names_without_effect(without_effect)) {
    settings.notes.push_back(std::move(*note));
  }
}

void judge_keys(const SettingsFile& file, Settings& settings) {
  for (const FileEntry& entry : file.entries) {
    const auto& table = setting_table();
    const bool known = std::any_of(table.begin(), table.end(), [&entry](const SettingRow& row) {
      return key_of(row) == entry.key;
    });
    if (!known) {
      settings.warnings.push_back(judge_unknown_key(entry.key, place_in(file, entry.line)));
    }
  }
}

void judge_pinned_gid(Settings& settings) {
  if (settings.gid_index) {
    settings.notes.push_back(fmt::format(
        "{} pins a place in the GID table, and places differ between hosts and move while a job "
        "runs; without it the right entry is found by what it is",
        where_from(settings, Setting::kGidIndex)));
  }
}

// What is probably misspelt may be the cause of a mistake, and whoever corrects one wants to see
// it.
Error refusal(const JudgedSettings& judged) {
  const char* const them = judged.mistakes.size() == 1 ? "it" : "them";
  std::string what =
      fmt::format("{}; unset {} or correct {}", fmt::join(judged.mistakes, "; "), them, them);
  for (const std::string& warning : judged.settings.warnings) {
    what += fmt::format("; also, {}", warning);
  }
  return {ErrorCode::kInvalidArgument, std::move(what)};
}

}  // namespace

JudgedSettings judge_settings(const Environment& environment, const ReadTextFile& read_file) {
  JudgedSettings judged;
  const SettingsFile file = read_settings_file(environment, read_file, judged.mistakes);
  for (const SettingRow& row : setting_table()) {
    take_value(row, choose_source(environment, file, row, judged.settings.notes), judged);
  }
  judge_together(judged);
  judge_variable_names(environment, judged.settings);
  judge_keys(file, judged.settings);
  judge_pinned_gid(judged.settings);
  return judged;
}

Result<Settings> load_settings(const Environment& environment, const ReadTextFile& read_file) {
  JudgedSettings judged = judge_settings(environment, read_file);
  if (!judged.mistakes.empty()) {
    return refusal(judged);
  }
  return std::move(judged.settings);
}

Settings default_settings() { return std::move(judge_settings({}).settings); }

}  // namespace rocelane
