#include "base/settings_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/settings_names.h"
#include "base/toml_library.h"

namespace rocelane {
namespace {

std::string_view line_of(std::string_view text, size_t line) {
  for (; line > 1; --line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text.substr(0, text.find('\n'));
}

FileEntry read_entry(std::string_view key, const toml::node& node) {
  FileEntry entry;
  entry.key = key;
  entry.line = node.source().begin.line;
  entry.kind_name = kind_name(node);
  if (const auto* text = node.as_string()) {
    entry.kind = FileValueKind::kText;
    entry.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    entry.kind = FileValueKind::kInteger;
    entry.text = fmt::format("{}", number->get());
  } else if (const auto* flag = node.as_boolean()) {
    entry.kind = FileValueKind::kFlag;
    entry.text = flag->get() ? "on" : "off";
  } else {
    const auto* fraction = node.as_floating_point();
    entry.text = fraction != nullptr ? fmt::format("{}", fraction->get()) : "...";
  }
  return entry;
}

// The value of an entry that lost a character to in_ascii().
bool is_foreign_value(const FileEntry& entry, std::string_view text) {
  const std::string_view line = line_of(text, entry.line);
  return entry.text.find(kForeignCharacter) != std::string::npos &&
         !std::all_of(line.begin(), line.end(), is_ascii);
}

Error at_line(const SettingsFile& file, size_t line, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}", place_in(file, line), what)};
}

}  // namespace

std::string place_in(const SettingsFile& file, size_t line) {
  return fmt::format("{}:{}", shown(file.path), line);
}

Result<SettingsFile> parse_settings_file(std::string_view path, std::string_view text) {
  SettingsFile file{std::string(path), {}};
  if (const std::optional<size_t> line = line_with_too_many_dots(text)) {
    return at_line(file, *line, "this line has too many dots to be a setting");
  }
  const toml::parse_result parsed = toml::parse(in_ascii(text));
  if (parsed.failed()) {
    return at_line(file, parsed.error().source().begin.line,
                   fmt::format("this is not TOML ({}); settings look like lanes = 4 or devices = "
                               "\"mlx5_0\"",
                               shown(parsed.error().description())));
  }
  for (const auto& [key, node] : parsed.table()) {
    file.entries.push_back(read_entry(key.str(), node));
    if (is_foreign_value(file.entries.back(), text)) {
      return at_line(file, file.entries.back().line,
                     fmt::format("{} has characters that are not ASCII", shown(key.str())));
    }
  }
  std::stable_sort(file.entries.begin(), file.entries.end(),
                   [](const FileEntry& a, const FileEntry& b) { return a.line < b.line; });
  return file;
}

}  // namespace rocelane
