#pragma once

// Which links there are, and which of them the packets of a flow take. Pure and immutable.
//
// Names and numbers. A device is the node "host1/soft_0"; one with several LAG ports is the nodes
// "host1/soft_0.p1", ".p2", …, and its own name stands for all of them in patterns. Leaves are
// leaf1, leaf2, …: by group of hosts_per_leaf hosts, and within a group by rail when a leaf serves
// one rail, so that with 2 rails hosts 1 … n have leaf1 for rail 0 and leaf2 for rail 1. All LAG
// ports of a device reach the same leaf. The only switch of an ideal fabric is "fabric". Links
// are numbered by device and LAG port (up, then down), then by leaf and spine (up, then down).

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softverbs/description/run_description.h"
#include "softverbs/fabric/flow_hash.h"

namespace rocelane::softverbs {

// One direction of a cable.
struct Link {
  std::string name;  // "leaf1>spine2", "host1/soft_0>leaf1"; a LAG's: "host1/soft_0.p1>leaf1"
  LinkProperties properties;
};

// What switches hash: the RoCEv2 packet's addresses and UDP source port.
struct Flow {
  int from_device = 0;
  int to_device = 0;
  uint16_t udp_source_port = 0xC000;
  uint8_t from_lag_port = 0;  // which physical port the queue pair leaves through
};

constexpr int kLongestPath = 6;

struct Path {
  uint8_t length = 0;
  std::array<uint16_t, kLongestPath> links{};
};

// How many links a run has, without building them.
uint64_t number_of_links(const RunDescription& run);

class Topology {
 public:
  // `run` is within the bounds of description/bounds.h and need not outlive the topology.
  explicit Topology(const RunDescription& run);

  const std::vector<Link>& links() const { return links_; }

  // The numbers of the links that `pattern` names, ascending; see LinkOverride. A name without
  // "-" and ">" means every link from or to it. Empty when there is none.
  std::vector<int> links_named(std::string_view pattern) const;

  // All links of a device's port: those that leave it and those that reach it.
  const std::vector<int>& links_of_device(int device) const;

  // The path of a flow, where `avoided(link)` says which links switches have taken out of their
  // tables; an empty function stands for none. Nothing when there is no path. A path from a
  // device to itself has no links. Every switch hashes with a seed of its own, so hashes of two
  // tiers are independent. Members of a group that shrinks are chosen anew for all flows, as plain
  // ECMP does; a leaf also avoids spines that have lost the other leaf. The last hop to a LAG is
  // chosen by hash. A LAG port whose uplink is avoided hands its flows to the next one.
  std::optional<Path> path_of(const Flow& flow, const std::function<bool(int)>& avoided) const;

  // Whether the two have a path without a spine.
  bool same_leaf(int device, int other) const;

 private:
  struct Node {
    std::string name;
    std::string device;  // of a LAG port: its device's name, otherwise empty
  };
  struct Ends {
    int from, to;  // places in nodes_
  };
  struct Attachment {
    int leaf = 0;  // counted from 0
    int lag_ports = 1;
    int first_link = 0;
  };

  using Avoided = std::function<bool(int)>;

  void attach(const DeviceDescription& device, int leaf, const LinkProperties& properties);
  void add_cable(int lower, int upper, const LinkProperties& properties);
  void apply(const LinkOverride& change);
  std::vector<bool> nodes_named(std::string_view pattern) const;

  std::optional<int> choose_uplink(const Attachment& from, int lag_port,
                                   const Avoided& avoided) const;
  std::optional<int> choose_spine(int from_leaf, int to_leaf, uint64_t hash,
                                  const Avoided& avoided) const;
  std::optional<int> choose_downlink(const Attachment& to, uint64_t hash,
                                     const Avoided& avoided) const;

  int uplink(const Attachment& at, int lag_port) const { return at.first_link + 2 * lag_port; }
  int downlink(const Attachment& at, int lag_port) const { return uplink(at, lag_port) + 1; }
  int leaf_to_spine(int leaf, int spine) const {
    return first_spine_link_ + 2 * (leaf * spines_ + spine);
  }
  int spine_to_leaf(int leaf, int spine) const { return leaf_to_spine(leaf, spine) + 1; }

  FlowHash hash_;
  int leaves_;
  int spines_;
  int first_spine_link_ = 0;
  std::vector<Node> nodes_;  // leaves, spines, then devices
  std::vector<Link> links_;
  std::vector<Ends> ends_;  // of links_
  std::vector<Attachment> attachments_;
  std::vector<std::vector<int>> device_links_;
};

}  // namespace rocelane::softverbs
