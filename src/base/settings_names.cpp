#include "base/settings_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "base/settings_nccl_names.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

constexpr size_t kLongestShown = 80;
constexpr int kLargestDscp = 63;

// Belong to the lab, the tests and the build, which have settings of their own.
constexpr std::array<std::string_view, 6> kOtherPrograms{"ROCELANE_LAB_",   "ROCELANE_TEST_",
                                                         "ROCELANE_CHAOS_", "ROCELANE_CONTRACT_",
                                                         "ROCELANE_SETUP_", "ROCELANE_BUILD_"};

std::vector<std::string_view> names_of_nccl() {
  std::vector<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    if (!row.alias.empty()) {
      names.push_back(row.alias);
    }
  }
  for (const NameWithoutEffect& entry : names_without_effect()) {
    names.push_back(entry.name);
  }
  names.insert(names.end(), names_of_others().begin(), names_of_others().end());
  return names;
}

// Names that share a prefix of this length: what stands behind it may be half wrong, or cut short.
std::optional<std::string_view> nearest_of_ours(std::string_view name,
                                                std::span<const std::string_view> names,
                                                size_t prefix) {
  const size_t own_part = name.size() - std::min(name.size(), prefix);
  if (const auto nearest = nearest_name(name, names, own_part / 2 + 1)) {
    return nearest;
  }
  const auto longer =
      std::find_if(names.begin(), names.end(), [name, own_part](std::string_view candidate) {
        return own_part > 0 && candidate.starts_with(name);
      });
  return longer == names.end() ? std::nullopt : std::optional(*longer);
}

std::string say_unknown(std::string_view what, std::optional<std::string_view> nearest) {
  if (!nearest) {
    return fmt::format("{} is not a setting and has no effect; docs/settings.md lists all of them",
                       what);
  }
  return fmt::format("{} is not a setting and has no effect; did you mean {}?", what, *nearest);
}

std::string judge_our_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    names.push_back(row.name);
  }
  names.push_back(kConfigFileVariable);
  return say_unknown(shown(name), nearest_of_ours(name, names, kOurPrefix.size()));
}

// People write a variable's name where its key belongs.
std::optional<std::string> key_of_variable(std::string_view name) {
  for (const SettingRow& row : setting_table()) {
    if (same_word(name, row.name) || (!row.alias.empty() && same_word(name, row.alias))) {
      return key_of(row);
    }
  }
  return std::nullopt;
}

// People look for the whole byte under the names its parts have elsewhere.
std::optional<std::string> judge_misnomer(std::string_view name, std::string_view value) {
  if (name != "NCCL_IB_TOS" && name != "NCCL_IB_DSCP") {
    return std::nullopt;
  }
  int dscp = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), dscp);
  const bool is_dscp = error == std::errc{} && end == value.data() + value.size() && dscp >= 0 &&
                       dscp <= kLargestDscp;
  if (!is_dscp) {
    return fmt::format(
        "{} is not a setting of NCCL and has no effect; the traffic class is "
        "NCCL_IB_TC (DSCP x 4 + ECN)",
        name);
  }
  return fmt::format(
      "{} is not a setting of NCCL and has no effect; if DSCP {} is meant, set "
      "NCCL_IB_TC={}",
      name, dscp, dscp * 4);
}

std::optional<std::string> judge_nccl_name(std::string_view name, std::string_view value) {
  const std::vector<std::string_view> names = names_of_nccl();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return std::nullopt;
  }
  if (std::optional<std::string> misnomer = judge_misnomer(name, value)) {
    return misnomer;
  }
  // Short names are close to each other by nature; a newer NCCL may have names we do not know.
  constexpr size_t kShortName = 12;
  const std::optional<std::string_view> nearest =
      nearest_name(name, names, name.size() <= kShortName ? 1 : 2);
  if (!nearest) {
    return std::nullopt;
  }
  return fmt::format(
      "'{}' is not a name NCCL or Rocelane knows and has no effect; did you mean "
      "{}?",
      shown(name), *nearest);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, kLongestShown)) {
    line += c >= ' ' && c <= '~' ? c : '?';
  }
  if (text.size() > kLongestShown) {
    line += fmt::format("… ({} characters)", text.size());
  }
  return line;
}

std::string judge_unknown_key(std::string_view key, std::string_view place) {
  const std::string what = fmt::format("{} in {}", shown(key), place);
  if (const std::optional<std::string> meant = key_of_variable(key)) {
    return say_unknown(what, *meant);
  }
  std::vector<std::string> keys;
  for (const SettingRow& row : setting_table()) {
    keys.push_back(key_of(row));
  }
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  return say_unknown(what, nearest_of_ours(key, names, 0));
}

std::optional<std::string> judge_unknown_name(std::string_view name, std::string_view value) {
  const auto starts_name = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (std::any_of(kOtherPrograms.begin(), kOtherPrograms.end(), starts_name)) {
    return std::nullopt;
  }
  if (name.starts_with(kOurPrefix)) {
    return judge_our_name(name);
  }
  if (name.starts_with("NCCL_IB") || name.starts_with("NCCL_SOCKET")) {
    return judge_nccl_name(name, value);
  }
  return std::nullopt;
}

}  // namespace rocelane
