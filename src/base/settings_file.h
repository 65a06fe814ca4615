#pragma once

// The TOML file that ROCELANE_CONFIG_FILE names: one key a setting, no tables.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rocelane {

enum class FileValueKind : uint8_t {
  kText,
  kInteger,
  kFlag,   // true or false
  kOther,  // no setting is written like this
};

struct FileEntry {
  std::string key;
  size_t line = 0;  // from 1
  FileValueKind kind = FileValueKind::kOther;
  std::string text;       // the value as an environment variable would carry it: "on" for true
  std::string kind_name;  // for sentences: "text in quotes"
};

struct SettingsFile {
  std::string path;  // as the user wrote it; empty: there is no file
  std::vector<FileEntry> entries;
};

// The text may hold anything. An error names path and line, in one sentence without an end.
Result<SettingsFile> parse_settings_file(std::string_view path, std::string_view text);

// "/etc/rocelane.toml:12", fit for one line of a log.
std::string place_in(const SettingsFile& file, size_t line);

// Text of the file at a path, or a sentence without an end that says why there is none.
using ReadTextFile = std::function<Result<std::string>(const std::string& path)>;

// The real one: regular files of at most 64 KiB, and it never waits for anybody.
Result<std::string> read_text_file(const std::string& path);

}  // namespace rocelane
