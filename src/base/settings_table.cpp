#include "base/settings_table.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace rocelane {
namespace {

constexpr size_t kLongestText = 1024;
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kNcclAuto = "-1";

// Decimal or 0x…. A leading zero is refused: to NCCL it means octal, to everybody else it does not.
std::optional<int> parse_number(std::string_view text, int least, int most) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
    if (text.starts_with("-")) {
      return std::nullopt;
    }
  } else if (text.size() > 1 && text.front() == '0') {
    return std::nullopt;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    return std::nullopt;
  }
  return value;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

bool means_auto(std::string_view text) { return same_word(text, kAuto) || text == kNcclAuto; }

template <auto Member>
bool assign_number(const SettingRow& row, std::string_view text, Settings& settings) {
  const std::optional<int> value = parse_number(text, row.least, row.most);
  if (value) {
    settings.*Member = *value;
  }
  return value.has_value();
}

template <auto Member>
bool assign_number_or_auto(const SettingRow& row, std::string_view text, Settings& settings) {
  if (means_auto(text)) {
    settings.*Member = std::nullopt;
    return true;
  }
  const std::optional<int> value = parse_number(text, row.least, row.most);
  if (value) {
    settings.*Member = value;
  }
  return value.has_value();
}

// -1 is how NCCL's users write "I did not choose"; there is no automatic choice behind it.
template <auto Member>
bool assign_number_or_default(const SettingRow& row, std::string_view text, Settings& settings) {
  return assign_number<Member>(row, means_auto(text) ? row.default_text : text, settings);
}

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <auto Member, auto& Choices>
bool assign_choice(const SettingRow&, std::string_view text, Settings& settings) {
  for (const auto& choice : Choices) {
    if (same_word(choice.word, text)) {
      settings.*Member = choice.value;
      return true;
    }
  }
  return false;
}

template <auto Member>
bool assign_text(const SettingRow&, std::string_view text, Settings& settings) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable || text.size() > kLongestText) {
    return false;
  }
  settings.*Member = std::string(text);
  return true;
}

bool assign_address_range(const SettingRow&, std::string_view text, Settings& settings) {
  if (text.empty()) {
    settings.address_range = std::nullopt;
    return true;
  }
  settings.address_range = parse_address_range(text);
  return settings.address_range.has_value();
}

constexpr std::array<Choice<AddressFamily>, 5> kFamilies{{{"auto", AddressFamily::kAny},
                                                          {"ipv4", AddressFamily::kIpv4},
                                                          {"ipv6", AddressFamily::kIpv6},
                                                          {"AF_INET", AddressFamily::kIpv4},
                                                          {"AF_INET6", AddressFamily::kIpv6}}};

constexpr std::array<Choice<std::optional<int>>, 7> kMtus{{{"auto", std::nullopt},
                                                           {"-1", std::nullopt},
                                                           {"256", 256},
                                                           {"512", 512},
                                                           {"1024", 1024},
                                                           {"2048", 2048},
                                                           {"4096", 4096}}};

constexpr std::array<Choice<RelaxedOrdering>, 6> kOrderings{
    {{"auto", RelaxedOrdering::kIfSupported},
     {"on", RelaxedOrdering::kOn},
     {"off", RelaxedOrdering::kOff},
     {"2", RelaxedOrdering::kIfSupported},
     {"1", RelaxedOrdering::kOn},
     {"0", RelaxedOrdering::kOff}}};

constexpr std::array<Choice<GpuDirect>, 5> kGpuDirects{{{"auto", GpuDirect::kAuto},
                                                        {"on", GpuDirect::kOn},
                                                        {"off", GpuDirect::kOff},
                                                        {"1", GpuDirect::kOn},
                                                        {"0", GpuDirect::kOff}}};

constexpr std::array<SettingRow, kSettingCount> kTable{{
    {Setting::kDevices, "ROCELANE_DEVICES", "NCCL_IB_HCA", "list of devices", "", 0, 0, "",
     "a device list is [^][=]name[:port[:rail[:plane]]], separated by commas, at most 1024 "
     "printable characters",
     "Which RDMA ports to use. A name is a prefix (`mlx5_1` also means `mlx5_10`); a leading `=` "
     "wants whole names, a leading `^` excludes what is listed. Empty: all ports.",
     &assign_text<&Settings::devices>},

    {Setting::kGidIndex, "ROCELANE_GID_INDEX", "NCCL_IB_GID_INDEX", "number or auto", "auto", 0,
     255, "", "a GID index is 0..255, or auto (-1)",
     "Pins the place in every port's GID table. Best left alone: places differ between hosts and "
     "move while a job runs. auto chooses by what an entry is.",
     &assign_number_or_auto<&Settings::gid_index>},

    {Setting::kAddressFamily, "ROCELANE_ADDRESS_FAMILY", "NCCL_IB_ADDR_FAMILY", "choice", "auto", 0,
     0, "", "an address family is ipv4 (AF_INET), ipv6 (AF_INET6) or auto",
     "Which GIDs may be chosen. auto: both, IPv4 first.",
     &assign_choice<&Settings::address_family, kFamilies>},

    {Setting::kAddressRange, "ROCELANE_ADDRESS_RANGE", "NCCL_IB_ADDR_RANGE", "range of addresses",
     "", 0, 0, "",
     "a range is an address, a slash and a prefix length, such as 10.0.0.0/8 or fd00::/8",
     "The address of the chosen GID must lie in this range. Empty: any address.",
     &assign_address_range},

    {Setting::kRoceVersion, "ROCELANE_ROCE_VERSION", "NCCL_IB_ROCE_VERSION_NUM", "number or auto",
     "auto", 1, 2, "", "a RoCE version is 1 or 2, or auto (-1)",
     "Which GIDs may be chosen. auto: version 2, and version 1 only where a port has nothing else.",
     &assign_number_or_auto<&Settings::roce_version>},

    {Setting::kTrafficClass, "ROCELANE_TRAFFIC_CLASS", "NCCL_IB_TC", "traffic class or auto",
     "auto", 0, 255, "",
     "a traffic class is 0..255 (DSCP in the upper six bits, ECN in the lower two), or auto (-1)",
     "Traffic class of data packets, all eight bits: DSCP 26 with ECT(0) is 26 x 4 + 2 = 106. "
     "auto: the communicator's trafficClass if it has one, else 0. One end of a connection that "
     "sets it decides for both directions; two ends that set different values do not connect.",
     &assign_number_or_auto<&Settings::traffic_class>},

    {Setting::kControlTrafficClass, "ROCELANE_CONTROL_TRAFFIC_CLASS", "NCCL_IB_FIFO_TC",
     "traffic class or auto", "auto", 0, 255, "",
     "a traffic class is 0..255 (DSCP in the upper six bits, ECN in the lower two), or auto (-1)",
     "Traffic class of control packets (clear-to-send), which are few, small and urgent. "
     "auto: the same as data.",
     &assign_number_or_auto<&Settings::control_traffic_class>},

    {Setting::kServiceLevel, "ROCELANE_SERVICE_LEVEL", "NCCL_IB_SL", "number", "0", 0, 15, "",
     "a service level is 0..15",
     "Becomes the VLAN priority where switches trust that; without VLANs it has no effect. "
     "Never derived from the traffic class.",
     &assign_number_or_default<&Settings::service_level>},

    {Setting::kPkeyIndex, "ROCELANE_PKEY_INDEX", "NCCL_IB_PKEY", "number", "0", 0, 65535, "",
     "a partition key index is 0..65535",
     "Place in the partition key table. On Ethernet there is only place 0.",
     &assign_number<&Settings::pkey_index>},

    {Setting::kMtu, "ROCELANE_MTU", "", "choice", "auto", 256, 4096, "bytes",
     "a RoCE MTU is 256, 512, 1024, 2048 or 4096 bytes, or auto",
     "Upper bound of the path MTU. auto: what both ends' ports have active. "
     "It is smaller than the MTU of the Ethernet interface, which carries it.",
     &assign_choice<&Settings::mtu_bytes, kMtus>},

    {Setting::kLanes, "ROCELANE_LANES", "NCCL_IB_QPS_PER_CONNECTION", "number", "2", 1, 128, "",
     "a number of lanes is 1..128, of which 16 are used",
     "Data lanes of a connection, each a queue pair with a path of its own. One lane is one flow, "
     "and flows of many connections collide on some link of the fabric; two lanes avoid the worst "
     "of it and leave a way to go on when one path fails. Every further lane gains less and "
     "costs memory in the NIC.",
     &assign_number<&Settings::lanes>},

    {Setting::kAckTimeout, "ROCELANE_ACK_TIMEOUT", "NCCL_IB_TIMEOUT", "number", "20", 0, 31,
     "exponent: 4.096 us x 2^n",
     "an acknowledge timeout is 0..31, the n of 4.096 us x 2^n (20 is 4.3 s, 0 waits for ever)",
     "How long a NIC waits for an acknowledgement before it sends again. 20 is 4.3 s.",
     &assign_number<&Settings::ack_timeout>},

    {Setting::kRetryCount, "ROCELANE_RETRY_COUNT", "NCCL_IB_RETRY_CNT", "number", "7", 0, 7,
     "attempts", "a retry count is 0..7",
     "How often a NIC sends again before it reports the path as failed.",
     &assign_number<&Settings::retry_count>},

    {Setting::kRelaxedOrdering, "ROCELANE_RELAXED_ORDERING", "NCCL_IB_PCI_RELAXED_ORDERING",
     "choice", "auto", 0, 2, "", "relaxed ordering is off (0), on (1) or auto (2)",
     "PCIe relaxed ordering for data buffers. auto: where the driver offers it.",
     &assign_choice<&Settings::relaxed_ordering, kOrderings>},

    {Setting::kGpuDirect, "ROCELANE_GPU_DIRECT", "", "choice", "auto", 0, 1, "",
     "GPU direct is off (0), on (1) or auto",
     "Whether NICs read and write GPU memory themselves. auto: where the driver can.",
     &assign_choice<&Settings::gpu_direct, kGpuDirects>},

    {Setting::kConnectTimeout, "ROCELANE_CONNECT_TIMEOUT_MS", "", "number", "8000", 100, 600000,
     "ms", "a connect timeout is 100..600000 ms",
     "How long dialing the peer, bringing its lanes up and probing them may each take. Then the "
     "connection fails with a sentence that names both ends and the step.",
     &assign_number<&Settings::connect_timeout_ms>},

    {Setting::kSocketInterface, "ROCELANE_SOCKET_INTERFACE", "NCCL_SOCKET_IFNAME",
     "list of interfaces", "", 0, 0, "",
     "an interface list is [^][=]name, separated by commas, at most 1024 printable characters",
     "Interface of the TCP connection that sets up an RDMA connection. Same grammar as "
     "ROCELANE_DEVICES, without numbers. Empty: the first real interface with an address.",
     &assign_text<&Settings::socket_interface>},

    {Setting::kSocketFamily, "ROCELANE_SOCKET_FAMILY", "NCCL_SOCKET_FAMILY", "choice", "auto", 0, 0,
     "", "an address family is ipv4 (AF_INET), ipv6 (AF_INET6) or auto",
     "Address family of that TCP connection. auto: both, IPv4 first.",
     &assign_choice<&Settings::socket_family, kFamilies>},
}};

constexpr bool in_order_of_enum() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].id) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_order_of_enum(), "rows are found by their place");

}  // namespace

const std::array<SettingRow, kSettingCount>& setting_table() { return kTable; }

}  // namespace rocelane
