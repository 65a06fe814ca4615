#include "net/health/dcb_reply.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

namespace rocelane::telemetry {
namespace {

using Bytes = std::span<const std::byte>;

static_assert(sizeof(dcb_app) == 4, "an entry of the application table as the kernel lays it out");

// `T` at the front of `bytes`, which need not be aligned.
template <class T>
std::optional<T> front_as(Bytes bytes) {
  T value{};
  if (bytes.size() < sizeof(T)) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Bytes after(Bytes bytes, size_t count) { return bytes.subspan(std::min(count, bytes.size())); }

struct Attribute {
  int type = 0;
  Bytes payload;
};

// Takes one attribute off the front of `rest`. Nothing at the end, or where a length lies.
std::optional<Attribute> next_attribute(Bytes& rest) {
  const auto header = front_as<nlattr>(rest);
  if (!header || header->nla_len < sizeof(nlattr) || header->nla_len > rest.size()) {
    return std::nullopt;
  }
  const Attribute attribute{header->nla_type & NLA_TYPE_MASK,
                            rest.subspan(sizeof(nlattr), header->nla_len - sizeof(nlattr))};
  rest = after(rest, NLA_ALIGN(header->nla_len));
  return attribute;
}

std::optional<Bytes> find(Bytes attributes, int type) {
  while (const auto attribute = next_attribute(attributes)) {
    if (attribute->type == type) {
      return attribute->payload;
    }
  }
  return std::nullopt;
}

void map_dscps(Bytes table, QueueRules& rules) {
  while (const auto attribute = next_attribute(table)) {
    const auto entry = front_as<dcb_app>(attribute->payload);
    if (attribute->type != DCB_ATTR_IEEE_APP || !entry ||
        entry->selector != IEEE_8021QAZ_APP_SEL_DSCP ||
        entry->protocol >= rules.priority_of_dscp.size() || entry->priority >= kPriorities) {
      continue;
    }
    auto& priority = rules.priority_of_dscp[entry->protocol];
    priority = std::max(priority.value_or(0), entry->priority);
  }
}

Error unreadable(const std::string& why) { return {ErrorCode::kSystem, "DCB settings: " + why}; }

}  // namespace

Result<QueueRules> decode_dcb_reply(Bytes datagram) {
  const auto header = front_as<nlmsghdr>(datagram);
  if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > datagram.size()) {
    return unreadable("the kernel's answer is cut short");
  }
  const Bytes message = datagram.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr));
  if (header->nlmsg_type == NLMSG_ERROR) {
    const auto refusal = front_as<nlmsgerr>(message);
    // Negated as unsigned: the smallest int has no positive twin.
    const int code = refusal ? static_cast<int>(0U - static_cast<unsigned>(refusal->error)) : EIO;
    return unreadable(std::system_category().message(code));
  }
  const auto ieee = find(after(message, sizeof(dcbmsg)), DCB_ATTR_IEEE);
  if (header->nlmsg_type != RTM_GETDCB || !ieee) {
    return unreadable("the kernel's answer has no IEEE settings");
  }
  const auto pfc = find(*ieee, DCB_ATTR_IEEE_PFC);
  if (!pfc || pfc->size() <= offsetof(ieee_pfc, pfc_en)) {
    return unreadable("the driver tells nothing of PFC");
  }
  QueueRules rules;
  rules.lossless = std::to_integer<uint8_t>((*pfc)[offsetof(ieee_pfc, pfc_en)]);
  if (const auto table = find(*ieee, DCB_ATTR_IEEE_APP_TABLE)) {
    map_dscps(*table, rules);
  }
  return rules;
}

}  // namespace rocelane::telemetry
