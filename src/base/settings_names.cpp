#include "base/settings_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

constexpr std::string_view kOurPrefix = "ROCELANE_";
constexpr size_t kLongestShown = 80;
constexpr int kLargestDscp = 63;

// Belong to the lab, which has settings of its own.
constexpr std::array<std::string_view, 1> kOtherPrograms{"ROCELANE_LAB_"};

// Names of NCCL's own IB and socket transports, up to 2.30.7, that have no meaning here. Known so
// that they do not look like misspelt ones.
constexpr std::array<std::string_view, 50> kNcclOwn{
    "NCCL_IBVERBS_LIB",
    "NCCL_IBEXT_DISABLE",
    "NCCL_IB_ADAPTIVE_ROUTING",
    "NCCL_IB_AR_THRESHOLD",
    "NCCL_IB_CUDA_SUPPORT",
    "NCCL_IB_DATA_DIRECT",
    "NCCL_IB_DEVICE_PCI_ORDER",
    "NCCL_IB_DISABLE",
    "NCCL_IB_ECE_ENABLE",
    "NCCL_IB_GDR_LEVEL",
    "NCCL_IB_MERGE_NICS",
    "NCCL_IB_MERGE_VFS",
    "NCCL_IB_MQP_RETRY_ALL",
    "NCCL_IB_MQP_RETRY_CNT",
    "NCCL_IB_MQP_RETRY_SLEEP_MSEC",
    "NCCL_IB_OOO_RQ",
    "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS",
    "NCCL_IB_QUERY_PORT_SPEED",
    "NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME",
    "NCCL_IB_RESILIENCY_PORT_FAILOVER",
    "NCCL_IB_RESILIENCY_PORT_FAILOVER_MAX_ATTEMPTS",
    "NCCL_IB_RESILIENCY_PORT_FAILOVER_PROBE_DELAY",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ACK_TIMEOUT",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_INTERVAL",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_SIZE",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_SEQUENCE_SIZE",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_TIMEOUT",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_ATTEMPTS_MAX",
    "NCCL_IB_RESILIENCY_PORT_RECOVERY_START_DELAY",
    "NCCL_IB_RETURN_ASYNC_EVENTS",
    "NCCL_IB_ROUTABLE_FLID_GID_INDEX",
    "NCCL_IB_SPLIT_DATA_ON_QPS",
    "NCCL_IB_SUBNET_AWARE_ROUTING",
    "NCCL_IB_SUBNET_PREFIX_LEN",
    "NCCL_IB_USE_INLINE",
    "NCCL_IB_WARN_RAIL_LOCAL",
    "NCCL_SOCKET_INLINE",
    "NCCL_SOCKET_MAGIC",
    "NCCL_SOCKET_MIN_TASKSIZE",
    "NCCL_SOCKET_NTHREADS",
    "NCCL_SOCKET_POLL_TIMEOUT_MSEC",
    "NCCL_SOCKET_RCVBUF",
    "NCCL_SOCKET_RETRY_CNT",
    "NCCL_SOCKET_RETRY_SLEEP_MSEC",
    "NCCL_SOCKET_SNDBUF",
    "NCCL_NSOCKS_PERTHREAD",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_READ",
    "NCCL_NET_MERGE_LEVEL"};

std::vector<std::string_view> names_of_nccl() {
  std::vector<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    if (!row.alias.empty()) {
      names.push_back(row.alias);
    }
  }
  names.insert(names.end(), kNcclOwn.begin(), kNcclOwn.end());
  return names;
}

std::string judge_our_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    names.push_back(row.name);
  }
  const size_t most_edits = (name.size() - std::min(name.size(), kOurPrefix.size())) / 2 + 1;
  const std::optional<std::string_view> nearest = nearest_name(name, names, most_edits);
  if (!nearest) {
    return fmt::format("{} is not a setting and has no effect; docs/settings.md lists all of them",
                       shown(name));
  }
  return fmt::format("{} is not a setting and has no effect; did you mean {}?", shown(name),
                     *nearest);
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
