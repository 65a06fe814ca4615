#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/settings.h"
#include "base/settings_names.h"
#include "base/settings_sources.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

// NCCL cuts a line at 1024 characters, of which host, process and prefix take some.
constexpr size_t kLongestLine = 700;

// "set: ROCELANE_TRAFFIC_CLASS=106 (from NCCL_IB_TC)": what a user set, under the name it has here.
std::string chosen_text(const SettingRow& row, const SettingSource& source) {
  std::string value = fmt::format("{}={}", row.name, shown(source.text));
  switch (source.origin) {
    case SettingOrigin::kAlias:
      return fmt::format("{} (from {})", value, source.name);
    case SettingOrigin::kFile:
      return fmt::format("{} (from {})", value, source.place);
    case SettingOrigin::kVariable:
    case SettingOrigin::kDefault:
      break;
  }
  return value;
}

// As many lines as it takes, each of which begins with `head`.
void add_lines(std::string_view head, const std::vector<std::string>& parts,
               std::vector<std::string>& lines) {
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty() && line.size() + part.size() > kLongestLine) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += line.empty() ? fmt::format("{}: {}", head, part) : fmt::format(", {}", part);
  }
  if (!line.empty()) {
    lines.push_back(std::move(line));
  }
}

}  // namespace

const SettingSource& source_of(const Settings& settings, Setting setting) {
  return settings.sources[static_cast<size_t>(setting)];
}

std::string where_from(const Settings& settings, Setting setting) {
  const SettingSource& source = source_of(settings, setting);
  return source.origin == SettingOrigin::kDefault
             ? fmt::format("{}={} (the default)", row_of(setting).name, source.text)
             : said(source);
}

std::vector<std::string> start_report(const Settings& settings) {
  std::vector<std::string> chosen;
  std::vector<std::string> defaults;
  for (const SettingRow& row : setting_table()) {
    const SettingSource& source = source_of(settings, row.id);
    if (source.origin == SettingOrigin::kDefault) {
      defaults.push_back(fmt::format("{}={}", key_of(row), source.text));
    } else {
      chosen.push_back(chosen_text(row, source));
    }
  }
  if (chosen.empty()) {
    chosen.emplace_back("nothing");
  }
  std::vector<std::string> lines;
  add_lines("set", chosen, lines);
  add_lines("by default", defaults, lines);
  return lines;
}

std::string describe(const Settings& settings) {
  return fmt::format("{}", fmt::join(start_report(settings), "; "));
}

}  // namespace rocelane
