#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {
namespace {

constexpr size_t kLongestName = 64;
constexpr int kMostHosts = 1024;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Result<std::string> read_whole(const char* variable, const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    // An empty file sets the fail bit too; it is a fine description of nothing.
    if (stream.is_open() && stream.peek() == std::ifstream::traits_type::eof()) {
      return std::string();
    }
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("softverbs: {} names {}, which cannot be read; correct or unset it",
                             variable, file)};
  }
  return text.str();
}

Result<int> read_host(const std::string& text) {
  if (text == "all") {
    return kAllHosts;
  }
  int host = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), host);
  if (error != std::errc() || end != text.data() + text.size() || host < 1 || host > kMostHosts) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("softverbs: ROCELANE_LAB_HOST={} is neither a host's number from 1 on "
                             "nor \"all\"",
                             text)};
  }
  return host;
}

}  // namespace

Result<RunSettings> read_run_settings(const char* (*environment)(const char* name)) {
  const auto value = [environment](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  RunSettings settings;
  if (const std::string name = value("ROCELANE_LAB_RUN"); !name.empty()) {
    if (!is_name(name)) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("softverbs: ROCELANE_LAB_RUN={} is not a name of 1 to {} letters, "
                               "digits, - and _",
                               name, kLongestName)};
    }
    settings.name = name;
  }
  if (const std::string host = value("ROCELANE_LAB_HOST"); !host.empty()) {
    auto number = read_host(host);
    if (!number) {
      return std::move(number).error();
    }
    settings.host = *number;
  }
  settings.fabric_file = value("ROCELANE_LAB_FABRIC");
  if (!settings.fabric_file.empty()) {
    auto text = read_whole("ROCELANE_LAB_FABRIC", settings.fabric_file);
    if (!text) {
      return std::move(text).error();
    }
    settings.fabric_text = std::move(*text);
  }
  settings.faults_file = value("ROCELANE_LAB_FAULTS");
  if (!settings.faults_file.empty()) {
    auto text = read_whole("ROCELANE_LAB_FAULTS", settings.faults_file);
    if (!text) {
      return std::move(text).error();
    }
    settings.faults_text = std::move(*text);
    settings.has_faults = true;
  }
  settings.counters_file = value("ROCELANE_LAB_COUNTERS");
  return settings;
}

}  // namespace rocelane::softverbs
