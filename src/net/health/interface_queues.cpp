#include "net/health/interface_queues.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/file_descriptor.h"
#include "net/health/dcb_reply.h"

namespace rocelane::telemetry {
namespace {

Error failed(std::string_view what, const std::string& interface) {
  return {ErrorCode::kSystem,
          fmt::format("{} of {}: {}", what, interface, std::system_category().message(errno))};
}

bool is_interface_name(const std::string& name) { return !name.empty() && name.size() < IFNAMSIZ; }

Error not_a_name(const std::string& name) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}' is no name of an interface", name)};
}

// An ethtool command: a fixed head and room behind it, where the driver writes.
template <class Head>
class EthtoolBuffer {
 public:
  explicit EthtoolBuffer(size_t room_bytes)
      : words_((sizeof(Head) + room_bytes) / sizeof(uint64_t) + 1) {}
  Head& head() { return *reinterpret_cast<Head*>(words_.data()); }
  const char* room() const { return reinterpret_cast<const char*>(words_.data()) + sizeof(Head); }
  bool ask(int socket, const std::string& interface) {
    ifreq request{};
    std::memcpy(request.ifr_name, interface.data(), interface.size());
    request.ifr_data = reinterpret_cast<char*>(words_.data());
    return ioctl(socket, SIOCETHTOOL, &request) == 0;
  }

 private:
  std::vector<uint64_t> words_;  // aligned for every head
};

Result<size_t> count_statistics(int socket, const std::string& interface) {
  EthtoolBuffer<ethtool_sset_info> info(sizeof(uint32_t));
  info.head().cmd = ETHTOOL_GSSET_INFO;
  info.head().sset_mask = uint64_t{1} << ETH_SS_STATS;
  if (!info.ask(socket, interface)) {
    return failed("the number of statistics", interface);
  }
  uint32_t count = 0;
  if (info.head().sset_mask != 0) {
    std::memcpy(&count, info.room(), sizeof(count));
  }
  return size_t{count};
}

Result<std::vector<Statistic>> read_statistics(int socket, const std::string& interface,
                                               size_t count) {
  // The kernel writes as many as there are by then, which grows when somebody adds queues.
  const size_t room = 2 * count + 256;
  EthtoolBuffer<ethtool_gstrings> names(room * ETH_GSTRING_LEN);
  names.head().cmd = ETHTOOL_GSTRINGS;
  names.head().string_set = ETH_SS_STATS;
  names.head().len = static_cast<uint32_t>(count);
  EthtoolBuffer<ethtool_stats> values(room * sizeof(uint64_t));
  values.head().cmd = ETHTOOL_GSTATS;
  values.head().n_stats = static_cast<uint32_t>(count);
  if (!names.ask(socket, interface) || !values.ask(socket, interface)) {
    return failed("statistics", interface);
  }
  if (names.head().len != count || values.head().n_stats != count) {
    return Error{ErrorCode::kSystem,
                 fmt::format("the statistics of {} changed while they were read", interface)};
  }
  std::vector<Statistic> statistics(count);
  for (size_t i = 0; i < count; ++i) {
    const char* name = names.room() + i * ETH_GSTRING_LEN;
    statistics[i].name.assign(name, strnlen(name, ETH_GSTRING_LEN));
    std::memcpy(&statistics[i].value, values.room() + i * sizeof(uint64_t), sizeof(uint64_t));
  }
  return statistics;
}

struct DcbRequest {
  nlmsghdr header{};
  dcbmsg message{};
  nlattr attribute{};
  std::array<char, IFNAMSIZ> interface {};
};
static_assert(sizeof(DcbRequest) == 16 + 4 + 4 + IFNAMSIZ, "goes to the kernel as it lies here");

DcbRequest ask_for_ieee_settings(const std::string& interface) {
  DcbRequest request;
  request.header.nlmsg_type = RTM_GETDCB;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.message.cmd = DCB_CMD_IEEE_GET;
  request.attribute.nla_type = DCB_ATTR_IFNAME;
  request.attribute.nla_len = static_cast<uint16_t>(sizeof(nlattr) + interface.size() + 1);
  std::memcpy(request.interface.data(), interface.data(), interface.size());
  // Zeros behind the last attribute would make the kernel log about leftovers.
  request.header.nlmsg_len =
      static_cast<uint32_t>(offsetof(DcbRequest, attribute)) + NLA_ALIGN(request.attribute.nla_len);
  return request;
}

}  // namespace

Result<std::vector<Statistic>> read_interface_statistics(const std::string& interface) {
  if (!is_interface_name(interface)) {
    return not_a_name(interface);
  }
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return failed("a socket for the statistics", interface);
  }
  const auto count = count_statistics(socket.get(), interface);
  if (!count) {
    return count.error();
  }
  return *count == 0 ? std::vector<Statistic>{} : read_statistics(socket.get(), interface, *count);
}

Result<QueueRules> read_queue_rules(const std::string& interface) {
  if (!is_interface_name(interface)) {
    return not_a_name(interface);
  }
  const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const timeval patience{1, 0};
  const DcbRequest request = ask_for_ieee_settings(interface);
  alignas(nlmsghdr) std::array<std::byte, 32 * 1024> reply;
  // The kernel answers before send returns; the patience is for surprises.
  if (!socket.is_open() ||
      setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
      send(socket.get(), &request, request.header.nlmsg_len, 0) < 0) {
    return failed("the DCB settings", interface);
  }
  const ssize_t received = recv(socket.get(), reply.data(), reply.size(), 0);
  if (received < 0) {
    return failed("the DCB settings", interface);
  }
  return decode_dcb_reply(std::span(reply).first(static_cast<size_t>(received)));
}

}  // namespace rocelane::telemetry
