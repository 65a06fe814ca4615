#pragma once

// What a run consists of: hosts, their devices, and the fabric between them. Plain facts; every
// process of a run reads the same ones and so gets the same numbers for devices and links.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rocelane::softverbs {

using Gid = std::array<uint8_t, 16>;

struct GidDescription {
  int index = 0;
  Gid gid{};
  bool roce_v2 = true;
  std::string interface;  // name of the network interface; empty: of another network namespace
};

struct DeviceLimits {
  uint32_t queue_pairs = 131072;
  uint32_t completion_queues = 65536;
  uint32_t memory_regions = 262144;
  uint32_t protection_domains = 4096;
  uint32_t shared_receive_queues = 4096;
  uint32_t work_requests = 16384;         // of one queue
  uint32_t completion_entries = 4194303;  // of one queue
  uint32_t scatter_gather_entries = 16;
  uint32_t inline_bytes = 236;
  uint32_t message_bytes = 1U << 30;
  uint32_t outstanding_reads = 16;
};

// One RDMA device with one port.
struct DeviceDescription {
  int host = 1;          // 1, 2, …: host1, host2, …
  int rail = 0;          // 0, 1, …
  std::string name;      // as programs of its host see it: soft_0
  std::string pci_path;  // /sys/devices/pci0000:00/…
  uint64_t guid = 0;
  double rate_bits_per_s = 100e9;  // what the port claims; links have rates of their own
  uint32_t mtu_bytes = 4096;       // RoCE MTU: 256 … 4096
  uint8_t lag_ports = 1;           // physical ports bonded behind the device
  bool port_up = true;
  int open_error = 0;  // errno of every attempt to open it; 0: opens
  bool dma_buf = true;
  bool relaxed_ordering = true;
  std::vector<GidDescription> gids;
  DeviceLimits limits;

  // "host1/soft_0": the name in files, logs and counters.
  std::string full_name() const;
};

enum class FabricKind : uint8_t {
  kIdeal,      // nothing limits anything: every device has a link to one switch, "fabric"
  kLeaf,       // leaves only: devices of different leaves do not reach each other
  kLeafSpine,  // every leaf has a link to every spine
};

enum class PathHash : uint8_t {
  kFiveTuple,
  kPortBlind,  // ignores the UDP source port
};

enum class LagChoice : uint8_t { kCreationOrder, kRandom };

struct LinkProperties {
  double rate_bits_per_s = 0;  // 0: unlimited
  uint64_t delay_ns = 0;
  double loss = 0;                 // probability for each packet
  uint64_t mark_above_bytes = 0;   // ECN marks when more waits in front of the link; 0: never
  uint64_t pause_above_bytes = 0;  // counts a pause when more waits; 0: never
};

// Properties of some links; later entries win. A name is "A-B" for both directions or "A>B" for
// one; * matches anything.
struct LinkOverride {
  std::string name;
  LinkProperties properties;
  bool has_rate = false, has_delay = false, has_loss = false, has_mark = false, has_pause = false;
};

// Two devices that do not reach each other; names may hold *.
struct UnreachablePair {
  std::string from, to;   // "host1/soft_0"
  int modify_error = 0;   // errno of the step to RTR; 0: that works and packets vanish
  uint64_t delay_ns = 0;  // how long the step to RTR takes (real clock only)
};

struct FabricDescription {
  FabricKind kind = FabricKind::kIdeal;
  bool leaf_per_rail = true;  // a leaf serves one rail of its hosts; false: all their devices
  int hosts_per_leaf = 0;     // 0: all
  int spines = 0;
  LinkProperties host_link, spine_link;
  PathHash hash = PathHash::kFiveTuple;
  LagChoice lag_choice = LagChoice::kCreationOrder;
  uint64_t reroute_ns = 50'000'000;    // after a link went down, until switches avoid it
  uint64_t window_bytes = 256 * 1024;  // of a queue pair, unacknowledged in the fabric
  uint32_t burst_bytes = 16 * 1024;    // packets of one message travel in bursts of at most this
  bool link_local_reaches = true;      // fe80:: GIDs reach other hosts
  std::vector<LinkOverride> links;
  std::vector<UnreachablePair> unreachable;

  // Nothing to wait for, to lose or to count by link: data may be copied the moment it is posted.
  bool is_ideal() const;
};

struct RunDescription {
  uint64_t seed = 1;
  int hosts = 1;
  int rails = 2;
  std::vector<DeviceDescription> devices;  // by host, then rail; the place is the device's number
  FabricDescription fabric;
};

}  // namespace rocelane::softverbs
