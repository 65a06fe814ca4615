#include "base/settings_table.h"

#include "base/settings_values.h"

namespace rocelane {
namespace {

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

constexpr std::array<Choice<bool>, 4> kSwitch{
    {{"on", true}, {"off", false}, {"1", true}, {"0", false}}};

constexpr std::array<SettingRow, kSettingCount> kTable{{
    {Setting::kDevices, "ROCELANE_DEVICES", "NCCL_IB_HCA", SettingType::kDeviceList, "", 0, 0, "",
     "a device list is [^][=]name[:port[:rail[:plane]]], separated by commas, at most 1024 "
     "printable characters",
     "Which RDMA ports to use. A name is a prefix (`mlx5_1` also means `mlx5_10`); a leading `=` "
     "wants whole names, a leading `^` excludes what is listed. Empty: all ports.",
     &assign_text<&Settings::devices>},

    {Setting::kGidIndex, "ROCELANE_GID_INDEX", "NCCL_IB_GID_INDEX", SettingType::kNumberOrAuto,
     "auto", 0, 255, "", "a GID index is 0..255, or auto (-1)",
     "Pins the place in every port's GID table. Best left alone: places differ between hosts and "
     "move while a job runs. auto chooses by what an entry is.",
     &assign_number_or_auto<&Settings::gid_index>},

    {Setting::kAddressFamily, "ROCELANE_ADDRESS_FAMILY", "NCCL_IB_ADDR_FAMILY",
     SettingType::kChoice, "auto", 0, 0, "",
     "an address family is ipv4 (AF_INET), ipv6 (AF_INET6) or auto",
     "Which GIDs may be chosen. auto: both, IPv4 first.",
     &assign_choice<&Settings::address_family, kFamilies>},

    {Setting::kAddressRange, "ROCELANE_ADDRESS_RANGE", "NCCL_IB_ADDR_RANGE",
     SettingType::kAddressRange, "", 0, 0, "",
     "a range is an address, a slash and a prefix length, such as 10.0.0.0/8 or fd00::/8",
     "The address of the chosen GID must lie in this range. Empty: any address.",
     &assign_address_range},

    {Setting::kRoceVersion, "ROCELANE_ROCE_VERSION", "NCCL_IB_ROCE_VERSION_NUM",
     SettingType::kNumberOrAuto, "auto", 1, 2, "", "a RoCE version is 1 or 2, or auto (-1)",
     "Which GIDs may be chosen. auto: version 2, and version 1 only where a port has nothing else.",
     &assign_number_or_auto<&Settings::roce_version>},

    {Setting::kTrafficClass, "ROCELANE_TRAFFIC_CLASS", "NCCL_IB_TC",
     SettingType::kTrafficClassOrAuto, "auto", 0, 255, "",
     "a traffic class is 0..255 (DSCP in the upper six bits, ECN in the lower two), or auto (-1)",
     "Traffic class of data packets, all eight bits: DSCP 26 with ECT(0) is 26 x 4 + 2 = 106. "
     "auto: the communicator's trafficClass if it has one, else 0. One end of a connection that "
     "sets it decides for both directions; two ends that set different values do not connect.",
     &assign_number_or_auto<&Settings::traffic_class>},

    {Setting::kControlTrafficClass, "ROCELANE_CONTROL_TRAFFIC_CLASS", "NCCL_IB_FIFO_TC",
     SettingType::kTrafficClassOrAuto, "auto", 0, 255, "",
     "a traffic class is 0..255 (DSCP in the upper six bits, ECN in the lower two), or auto (-1)",
     "Traffic class of control packets (clear-to-send), which are few, small and urgent. "
     "auto: the same as data.",
     &assign_number_or_auto<&Settings::control_traffic_class>},

    {Setting::kSmallMessageTrafficClass, "ROCELANE_SMALL_MESSAGE_TRAFFIC_CLASS", "",
     SettingType::kTrafficClassOrAuto, "auto", 0, 255, "",
     "a traffic class is 0..255 (DSCP in the upper six bits, ECN in the lower two), or auto (-1)",
     "Traffic class of small messages, so that they need not queue behind large ones. auto: the "
     "same as data.",
     &assign_number_or_auto<&Settings::small_message_traffic_class>},

    {Setting::kSmallMessageBytes, "ROCELANE_SMALL_MESSAGE_BYTES", "", SettingType::kNumber, "16384",
     0, 1048576, "bytes", "the size of a small message is 0..1048576 bytes",
     "The largest message that ROCELANE_SMALL_MESSAGE_TRAFFIC_CLASS speaks of. 0: none.",
     &assign_number<&Settings::small_message_bytes>},

    {Setting::kServiceLevel, "ROCELANE_SERVICE_LEVEL", "NCCL_IB_SL", SettingType::kNumber, "0", 0,
     15, "", "a service level is 0..15",
     "Becomes the VLAN priority where switches trust that; without VLANs it has no effect. "
     "Never derived from the traffic class.",
     &assign_number_or_default<&Settings::service_level>},

    {Setting::kPkeyIndex, "ROCELANE_PKEY_INDEX", "NCCL_IB_PKEY", SettingType::kNumber, "0", 0,
     65535, "", "a partition key index is 0..65535",
     "Place in the partition key table. On Ethernet there is only place 0.",
     &assign_number<&Settings::pkey_index>},

    {Setting::kMtu, "ROCELANE_MTU", "", SettingType::kChoice, "auto", 256, 4096, "bytes",
     "a RoCE MTU is 256, 512, 1024, 2048 or 4096 bytes, or auto",
     "Upper bound of the path MTU. auto: what both ends' ports have active. "
     "It is smaller than the MTU of the Ethernet interface, which carries it.",
     &assign_choice<&Settings::mtu_bytes, kMtus>},

    {Setting::kLanes, "ROCELANE_LANES", "NCCL_IB_QPS_PER_CONNECTION", SettingType::kNumber, "2", 1,
     128, "", "a number of lanes is 1..128, of which 16 are used",
     "Data lanes of a connection, each a queue pair with a path of its own. One lane is one flow, "
     "and flows of many connections collide on some link of the fabric; two lanes avoid the worst "
     "of it and leave a way to go on when one path fails. Every further lane gains less and "
     "costs memory in the NIC.",
     &assign_number<&Settings::lanes>},

    {Setting::kStripeBytes, "ROCELANE_STRIPE_BYTES", "", SettingType::kNumber, "131072", 128,
     1073741824, "bytes", "a stripe is 128..1073741824 bytes and a multiple of 128",
     "A message is striped over as many lanes as get at least this much of it. What is too short "
     "for two takes one lane, because waiting for several paths costs latency.",
     &assign_multiple<&Settings::stripe_bytes, 128>},

    {Setting::kAckTimeout, "ROCELANE_ACK_TIMEOUT", "NCCL_IB_TIMEOUT", SettingType::kNumber, "20", 0,
     31, "exponent: 4.096 us x 2^n",
     "an acknowledge timeout is 0..31, the n of 4.096 us x 2^n (20 is 4.3 s; 22 is 17 s, with 7 "
     "retries about 2 min; 0 waits for ever)",
     "How long a NIC waits for an acknowledgement before it sends again. 20 is 4.3 s.",
     &assign_number<&Settings::ack_timeout>},

    {Setting::kRetryCount, "ROCELANE_RETRY_COUNT", "NCCL_IB_RETRY_CNT", SettingType::kNumber, "7",
     0, 7, "attempts", "a retry count is 0..7",
     "How often a NIC sends again before it reports the path as failed.",
     &assign_number<&Settings::retry_count>},

    {Setting::kRelaxedOrdering, "ROCELANE_RELAXED_ORDERING", "NCCL_IB_PCI_RELAXED_ORDERING",
     SettingType::kChoice, "auto", 0, 2, "", "relaxed ordering is off (0), on (1) or auto (2)",
     "PCIe relaxed ordering for data buffers. auto: where the driver offers it.",
     &assign_choice<&Settings::relaxed_ordering, kOrderings>},

    {Setting::kGpuDirect, "ROCELANE_GPU_DIRECT", "", SettingType::kChoice, "auto", 0, 1, "",
     "GPU direct is off (0), on (1) or auto",
     "Whether NICs read and write GPU memory themselves. auto: where the driver can.",
     &assign_choice<&Settings::gpu_direct, kGpuDirects>},

    {Setting::kConnectTimeout, "ROCELANE_CONNECT_TIMEOUT_MS", "", SettingType::kNumber, "8000", 100,
     600000, "ms", "a connect timeout is 100..600000 ms",
     "How long dialing the peer, bringing its lanes up and probing them may each take. Then the "
     "connection fails with a sentence that names both ends and the step.",
     &assign_number<&Settings::connect_timeout_ms>},

    {Setting::kSocketInterface, "ROCELANE_SOCKET_INTERFACE", "NCCL_SOCKET_IFNAME",
     SettingType::kInterfaceList, "", 0, 0, "",
     "an interface list is [^][=]name, separated by commas, at most 1024 printable characters",
     "Interface of the TCP connection that sets up an RDMA connection. Same grammar as "
     "ROCELANE_DEVICES, without numbers. Empty: the first real interface with an address.",
     &assign_text<&Settings::socket_interface>},

    {Setting::kSocketFamily, "ROCELANE_SOCKET_FAMILY", "NCCL_SOCKET_FAMILY", SettingType::kChoice,
     "auto", 0, 0, "", "an address family is ipv4 (AF_INET), ipv6 (AF_INET6) or auto",
     "Address family of that TCP connection. auto: both, IPv4 first.",
     &assign_choice<&Settings::socket_family, kFamilies>},

    {Setting::kTelemetry, "ROCELANE_TELEMETRY", "", SettingType::kChoice, "on", 0, 1, "",
     "telemetry is on (1) or off (0)",
     "Whether this process keeps a page of counters and latencies for other programs to read.",
     &assign_choice<&Settings::telemetry, kSwitch>},

    {Setting::kTelemetryDirectory, "ROCELANE_TELEMETRY_DIR", "", SettingType::kFolder, "/dev/shm",
     0, 0, "", "a folder is an absolute path of at most 1024 printable characters",
     "Where that page is, one file a process. Best in memory, as /dev/shm is: a disk would see "
     "every update.",
     &assign_absolute_path<&Settings::telemetry_directory>},
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

const SettingRow& row_of(Setting setting) { return kTable[static_cast<size_t>(setting)]; }

}  // namespace rocelane
