#include "base/settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings_names.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// An empty value counts as unset, as it does for NCCL.
std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return name.empty() || found == environment.end() ? std::string_view{} : trimmed(found->second);
}

const SettingRow& row_of(Setting setting) { return setting_table()[static_cast<size_t>(setting)]; }

SettingSource find_source(const Environment& environment, const SettingRow& row,
                          std::vector<std::string>& notes) {
  const std::string_view ours = value_of(environment, row.name);
  const std::string_view theirs = value_of(environment, row.alias);
  if (ours.empty() && theirs.empty()) {
    return {"", std::string(row.default_text)};
  }
  if (ours.empty()) {
    return {std::string(row.alias), std::string(theirs)};
  }
  if (!theirs.empty() && theirs != ours) {
    notes.push_back(
        fmt::format("{}={} wins over {}={}", row.name, shown(ours), row.alias, shown(theirs)));
  }
  return {std::string(row.name), std::string(ours)};
}

bool is_a_setting(std::string_view name) {
  const auto& table = setting_table();
  return std::any_of(table.begin(), table.end(), [name](const SettingRow& row) {
    return row.name == name || row.alias == name;
  });
}

void judge_names(const Environment& environment, Settings& settings) {
  for (const auto& [name, value] : environment) {
    if (is_a_setting(name)) {
      continue;
    }
    if (std::optional<std::string> warning = judge_unknown_name(name, trimmed(value))) {
      settings.warnings.push_back(std::move(*warning));
    }
  }
}

// Values that are legal alone and wrong together.
void judge_together(const Settings& settings, std::vector<std::string>& mistakes) {
  const bool unlike = settings.address_range && settings.address_family != AddressFamily::kAny &&
                      family_of(*settings.address_range) != settings.address_family;
  if (unlike) {
    mistakes.push_back(
        fmt::format("{} and {} exclude each other: the range is of the other address family",
                    where_from(settings, Setting::kAddressRange),
                    where_from(settings, Setting::kAddressFamily)));
  }
}

}  // namespace

Result<Settings> load_settings(const Environment& environment) {
  Settings settings;
  std::vector<std::string> mistakes;
  for (const SettingRow& row : setting_table()) {
    SettingSource& source = settings.sources[static_cast<size_t>(row.id)];
    source = find_source(environment, row, settings.notes);
    if (!row.assign(row, source.text, settings)) {
      mistakes.push_back(fmt::format("{}={}: {}", source.variable, shown(source.text), row.rule));
    }
  }
  judge_together(settings, mistakes);
  if (!mistakes.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("{}; unset {} or correct {}", fmt::join(mistakes, "; "),
                    mistakes.size() == 1 ? "it" : "them", mistakes.size() == 1 ? "it" : "them")};
  }
  judge_names(environment, settings);
  if (settings.gid_index) {
    settings.notes.push_back(fmt::format(
        "{} pins a place in the GID table, and places differ between hosts and move while a job "
        "runs; without it the right entry is found by what it is",
        where_from(settings, Setting::kGidIndex)));
  }
  return settings;
}

Settings default_settings() { return std::move(load_settings({})).value(); }

const SettingSource& source_of(const Settings& settings, Setting setting) {
  return settings.sources[static_cast<size_t>(setting)];
}

std::string where_from(const Settings& settings, Setting setting) {
  const SettingSource& source = source_of(settings, setting);
  if (source.variable.empty()) {
    return fmt::format("{}={} (the default)", row_of(setting).name, source.text);
  }
  return fmt::format("{}={}", source.variable, shown(source.text));
}

std::string describe(const Settings& settings) {
  std::vector<std::string> chosen;
  std::vector<std::string> defaults;
  for (const SettingRow& row : setting_table()) {
    const SettingSource& source = source_of(settings, row.id);
    std::string text = fmt::format("{}={}", row.name, shown(source.text));
    if (source.variable.empty()) {
      defaults.push_back(std::move(text));
    } else if (source.variable == row.name) {
      chosen.push_back(std::move(text));
    } else {
      chosen.push_back(fmt::format("{} (from {})", text, source.variable));
    }
  }
  return fmt::format("set: {}; by default: {}",
                     chosen.empty() ? "nothing" : fmt::format("{}", fmt::join(chosen, ", ")),
                     fmt::join(defaults, ", "));
}

}  // namespace rocelane
