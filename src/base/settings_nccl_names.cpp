#include "base/settings_nccl_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane {
namespace {

constexpr std::array<NameWithoutEffect, 45> kWithoutEffect{{
    {"NCCL_IBVERBS_LIB", ""},
    {"NCCL_IB_ADAPTIVE_ROUTING", ""},
    {"NCCL_IB_AR_THRESHOLD", ""},
    {"NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL"},
    {"NCCL_IB_DATA_DIRECT", ""},
    {"NCCL_IB_DEVICE_PCI_ORDER", ""},
    {"NCCL_IB_DISABLE", "NCCL_NET=Socket chooses TCP"},
    {"NCCL_IB_ECE_ENABLE", ""},
    {"NCCL_IB_EVENT_BASED_LB", ""},
    {"NCCL_IB_EVENT_BASED_LB_REMOTE", ""},
    {"NCCL_IB_GDR_LEVEL", "NCCL_NET_GDR_LEVEL"},
    {"NCCL_IB_MERGE_NICS", "every port is a device of its own"},
    {"NCCL_IB_MERGE_VFS", ""},
    {"NCCL_IB_MQP_RETRY_ALL", ""},
    {"NCCL_IB_MQP_RETRY_CNT", ""},
    {"NCCL_IB_MQP_RETRY_SLEEP_MSEC", ""},
    {"NCCL_IB_OOO_RQ", ""},
    {"NCCL_IB_PKEY_VALUE", "ROCELANE_PKEY_INDEX takes the place in the table"},
    {"NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS", ""},
    {"NCCL_IB_QUERY_PORT_SPEED", ""},
    {"NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME", ""},
    {"NCCL_IB_RESILIENCY_PORT_FAILOVER", ""},
    {"NCCL_IB_RESILIENCY_PORT_FAILOVER_MAX_ATTEMPTS", ""},
    {"NCCL_IB_RESILIENCY_PORT_FAILOVER_PROBE_DELAY", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ACK_TIMEOUT", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_INTERVAL", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_SIZE", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_SEQUENCE_SIZE", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_TIMEOUT", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_ATTEMPTS_MAX", ""},
    {"NCCL_IB_RESILIENCY_PORT_RECOVERY_START_DELAY", ""},
    {"NCCL_IB_RETURN_ASYNC_EVENTS", ""},
    {"NCCL_IB_ROUTABLE_FLID_GID_INDEX", ""},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "ROCELANE_STRIPE_BYTES says what is striped over lanes"},
    {"NCCL_IB_SUBNET_AWARE_ROUTING", ""},
    {"NCCL_IB_SUBNET_PREFIX_LEN", ""},
    {"NCCL_IB_USE_INLINE", ""},
    {"NCCL_IB_WARN_RAIL_LOCAL", ""},
    {"NCCL_IB_WQE_LATENCY_REPORT", ""},
    {"NCCL_IB_WQE_LATENCY_THRESHOLD_NS", ""},
    {"NCCL_NSOCKS_PERTHREAD", ""},
    {"NCCL_SOCKET_INLINE", ""},
    {"NCCL_SOCKET_MIN_TASKSIZE", ""},
    {"NCCL_SOCKET_NTHREADS", ""},
}};

constexpr std::array<std::string_view, 11> kOfOthers{
    "NCCL_IBEXT_DISABLE",          "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_READ",           "NCCL_NET_FORCE_MERGE",
    "NCCL_NET_MERGE_LEVEL",        "NCCL_SOCKET_MAGIC",
    "NCCL_SOCKET_SNDBUF",          "NCCL_SOCKET_POLL_TIMEOUT_MSEC",
    "NCCL_SOCKET_RCVBUF",          "NCCL_SOCKET_RETRY_CNT",
    "NCCL_SOCKET_RETRY_SLEEP_MSEC"};

const NameWithoutEffect* find(std::string_view name) {
  const auto* found = std::find_if(kWithoutEffect.begin(), kWithoutEffect.end(),
                                   [name](const auto& entry) { return entry.name == name; });
  return found == kWithoutEffect.end() ? nullptr : found;
}

}  // namespace

std::span<const NameWithoutEffect> names_without_effect() { return kWithoutEffect; }

std::span<const std::string_view> names_of_others() { return kOfOthers; }

bool has_no_effect_here(std::string_view name) { return find(name) != nullptr; }

std::optional<std::string> note_on_names_without_effect(std::span<const std::string_view> names) {
  if (names.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> descriptions;
  for (const std::string_view name : names) {
    const NameWithoutEffect* const entry = find(name);
    descriptions.push_back(entry == nullptr || entry->instead.empty()
                               ? std::string(name)
                               : fmt::format("{} (here: {})", name, entry->instead));
  }
  return fmt::format("{}: only NCCL's own transports read {}, no effect here",
                     fmt::join(descriptions, ", "), names.size() == 1 ? "this" : "these");
}

}  // namespace rocelane
