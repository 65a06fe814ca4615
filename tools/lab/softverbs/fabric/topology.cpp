#include "softverbs/fabric/topology.h"

#include <algorithm>

#include <fmt/format.h>

#include "softverbs/description/bounds.h"
#include "softverbs/description/name_pattern.h"

namespace rocelane::softverbs {
namespace {

int hosts_of_a_leaf(const RunDescription& run) {
  return run.fabric.hosts_per_leaf > 0 ? run.fabric.hosts_per_leaf : run.hosts;
}

int leaves_of_a_group(const RunDescription& run) {
  return run.fabric.leaf_per_rail ? run.rails : 1;
}

int number_of_leaves(const RunDescription& run) {
  if (run.fabric.kind == FabricKind::kIdeal) {
    return 1;
  }
  const int per_leaf = hosts_of_a_leaf(run);
  return (run.hosts + per_leaf - 1) / per_leaf * leaves_of_a_group(run);
}

int number_of_spines(const RunDescription& run) {
  return run.fabric.kind == FabricKind::kLeafSpine ? std::min(run.fabric.spines, kMostSpines) : 0;
}

int leaf_of(const DeviceDescription& device, const RunDescription& run) {
  if (run.fabric.kind == FabricKind::kIdeal) {
    return 0;
  }
  const int group = (device.host - 1) / hosts_of_a_leaf(run);
  return group * leaves_of_a_group(run) + (run.fabric.leaf_per_rail ? device.rail : 0);
}

// Equal links to choose from, without allocating.
class Candidates {
 public:
  void add(int candidate) { members_[count_++] = static_cast<uint16_t>(candidate); }

  std::optional<int> chosen_by(uint64_t hash) const {
    return count_ == 0 ? std::nullopt : std::optional<int>(members_[hash % count_]);
  }

 private:
  std::array<uint16_t, std::max(kMostSpines, kMostLagPorts)> members_;
  size_t count_ = 0;
};

bool is_usable(int link, const std::function<bool(int)>& avoided) {
  return !avoided || !avoided(link);
}

void append(Path& path, int link) { path.links[path.length++] = static_cast<uint16_t>(link); }

}  // namespace

uint64_t number_of_links(const RunDescription& run) {
  uint64_t cables = 0;
  for (const DeviceDescription& device : run.devices) {
    cables += device.lag_ports;
  }
  cables +=
      static_cast<uint64_t>(number_of_leaves(run)) * static_cast<uint64_t>(number_of_spines(run));
  return 2 * cables;
}

Topology::Topology(const RunDescription& run)
    : hash_(run.seed, run.fabric.hash),
      leaves_(number_of_leaves(run)),
      spines_(number_of_spines(run)) {
  const bool ideal = run.fabric.kind == FabricKind::kIdeal;
  for (int leaf = 0; leaf < leaves_; ++leaf) {
    nodes_.push_back({ideal ? "fabric" : fmt::format("leaf{}", leaf + 1), {}});
  }
  for (int spine = 0; spine < spines_; ++spine) {
    nodes_.push_back({fmt::format("spine{}", spine + 1), {}});
  }
  for (const DeviceDescription& device : run.devices) {
    attach(device, leaf_of(device, run), run.fabric.host_link);
  }
  first_spine_link_ = static_cast<int>(links_.size());
  for (int leaf = 0; leaf < leaves_; ++leaf) {
    for (int spine = 0; spine < spines_; ++spine) {
      add_cable(leaf, leaves_ + spine, run.fabric.spine_link);
    }
  }
  for (const LinkOverride& change : run.fabric.links) {
    apply(change);
  }
}

void Topology::attach(const DeviceDescription& device, int leaf, const LinkProperties& properties) {
  const int first_link = static_cast<int>(links_.size());
  const std::string name = device.full_name();
  for (int port = 1; port <= device.lag_ports; ++port) {
    if (device.lag_ports == 1) {
      nodes_.push_back({name, {}});
    } else {
      nodes_.push_back({fmt::format("{}.p{}", name, port), name});
    }
    add_cable(static_cast<int>(nodes_.size()) - 1, leaf, properties);
  }
  attachments_.push_back({leaf, device.lag_ports, first_link});
  std::vector<int>& own = device_links_.emplace_back();
  for (int link = first_link; link < static_cast<int>(links_.size()); ++link) {
    own.push_back(link);
  }
}

void Topology::add_cable(int lower, int upper, const LinkProperties& properties) {
  const std::string& below = nodes_[static_cast<size_t>(lower)].name;
  const std::string& above = nodes_[static_cast<size_t>(upper)].name;
  links_.push_back({fmt::format("{}>{}", below, above), properties});
  ends_.push_back({lower, upper});
  links_.push_back({fmt::format("{}>{}", above, below), properties});
  ends_.push_back({upper, lower});
}

void Topology::apply(const LinkOverride& change) {
  for (const int number : links_named(change.name)) {
    LinkProperties& link = links_[static_cast<size_t>(number)].properties;
    const LinkProperties& wanted = change.properties;
    link.rate_bits_per_s = change.has_rate ? wanted.rate_bits_per_s : link.rate_bits_per_s;
    link.delay_ns = change.has_delay ? wanted.delay_ns : link.delay_ns;
    link.loss = change.has_loss ? wanted.loss : link.loss;
    link.mark_above_bytes = change.has_mark ? wanted.mark_above_bytes : link.mark_above_bytes;
    link.pause_above_bytes = change.has_pause ? wanted.pause_above_bytes : link.pause_above_bytes;
  }
}

std::vector<bool> Topology::nodes_named(std::string_view pattern) const {
  std::vector<bool> named;
  named.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    named.push_back(matches(pattern, node.name) ||
                    (!node.device.empty() && matches(pattern, node.device)));
  }
  return named;
}

std::vector<int> Topology::links_named(std::string_view pattern) const {
  const LinkPattern wanted = parse_link_pattern(pattern);
  const std::vector<bool> from = nodes_named(wanted.from);
  const std::vector<bool> to = nodes_named(wanted.to.value_or("*"));
  std::vector<int> found;
  for (size_t i = 0; i < ends_.size(); ++i) {
    const auto start = static_cast<size_t>(ends_[i].from);
    const auto end = static_cast<size_t>(ends_[i].to);
    if ((from[start] && to[end]) || (wanted.both_directions && from[end] && to[start])) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

const std::vector<int>& Topology::links_of_device(int device) const {
  return device_links_[static_cast<size_t>(device)];
}

std::optional<Path> Topology::path_of(const Flow& flow,
                                      const std::function<bool(int)>& avoided) const {
  if (flow.from_device == flow.to_device) {
    return Path{};
  }
  const Attachment& from = attachments_[static_cast<size_t>(flow.from_device)];
  const Attachment& to = attachments_[static_cast<size_t>(flow.to_device)];
  const auto hash_at = [this, &flow](int leaf) {
    return hash_(leaf, flow.from_device, flow.to_device, flow.udp_source_port);
  };

  const std::optional<int> up = choose_uplink(from, flow.from_lag_port, avoided);
  const std::optional<int> down = choose_downlink(to, hash_at(to.leaf), avoided);
  if (!up || !down) {
    return std::nullopt;
  }
  Path path;
  append(path, *up);
  if (from.leaf != to.leaf) {
    const std::optional<int> spine = choose_spine(from.leaf, to.leaf, hash_at(from.leaf), avoided);
    if (!spine) {
      return std::nullopt;
    }
    append(path, leaf_to_spine(from.leaf, *spine));
    append(path, spine_to_leaf(to.leaf, *spine));
  }
  append(path, *down);
  return path;
}

std::optional<int> Topology::choose_uplink(const Attachment& from, int lag_port,
                                           const Avoided& avoided) const {
  for (int turn = 0; turn < from.lag_ports; ++turn) {
    const int link = uplink(from, (lag_port + turn) % from.lag_ports);
    if (is_usable(link, avoided)) {
      return link;
    }
  }
  return std::nullopt;
}

std::optional<int> Topology::choose_spine(int from_leaf, int to_leaf, uint64_t hash,
                                          const Avoided& avoided) const {
  Candidates spines;
  for (int spine = 0; spine < spines_; ++spine) {
    if (is_usable(leaf_to_spine(from_leaf, spine), avoided) &&
        is_usable(spine_to_leaf(to_leaf, spine), avoided)) {
      spines.add(spine);
    }
  }
  return spines.chosen_by(hash);
}

std::optional<int> Topology::choose_downlink(const Attachment& to, uint64_t hash,
                                             const Avoided& avoided) const {
  Candidates links;
  for (int port = 0; port < to.lag_ports; ++port) {
    if (is_usable(downlink(to, port), avoided)) {
      links.add(downlink(to, port));
    }
  }
  return links.chosen_by(hash);
}

bool Topology::same_leaf(int device, int other) const {
  return attachments_[static_cast<size_t>(device)].leaf ==
         attachments_[static_cast<size_t>(other)].leaf;
}

}  // namespace rocelane::softverbs
