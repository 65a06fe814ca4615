#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "softverbs/description/bounds.h"
#include "softverbs/description/default_device.h"
#include "softverbs/description/device_names.h"
#include "softverbs/description/link_names.h"
#include "softverbs/description/read_device.h"
#include "softverbs/description/read_files.h"
#include "softverbs/description/toml_file.h"

namespace rocelane::softverbs {
namespace {

constexpr std::array<Word<FabricKind>, 3> kKinds{{{"ideal", FabricKind::kIdeal},
                                                  {"leaf", FabricKind::kLeaf},
                                                  {"leaf-spine", FabricKind::kLeafSpine}}};
constexpr std::array<Word<PathHash>, 2> kHashes{
    {{"five-tuple", PathHash::kFiveTuple}, {"port-blind", PathHash::kPortBlind}}};
constexpr std::array<Word<LagChoice>, 2> kLagChoices{
    {{"creation-order", LagChoice::kCreationOrder}, {"random", LagChoice::kRandom}}};

// The device's name without its rail. NCCL and the kernel allow more than this; link names do not.
std::string read_device_prefix(TableReader& hosts) {
  constexpr size_t kLongest = 32;
  const std::string prefix = hosts.text("device_prefix").value_or("soft_");
  const bool plain = !prefix.empty() && prefix.size() <= kLongest &&
                     std::all_of(prefix.begin(), prefix.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_';
                     });
  if (!plain) {
    hosts.refuse("device_prefix", quoted(prefix) + " is not possible",
                 "1 to 32 letters, digits and _, for example \"mlx5_\"");
  }
  return prefix;
}

void read_hosts(TableReader& hosts, RunDescription& run) {
  run.hosts = hosts.integer<int>("count", 1, kMostHosts).value_or(run.hosts);
  run.rails = hosts.integer<int>("rails", 1, kMostRails).value_or(run.rails);
  std::optional<double> rate;
  std::optional<uint32_t> mtu_bytes;
  std::optional<uint8_t> lag_ports;
  read_port_claims(hosts, rate, mtu_bytes, lag_ports);
  const std::string prefix = read_device_prefix(hosts);
  hosts.refuse_other_keys();
  if (run.hosts * run.rails > kMostDevices) {
    hosts.refuse("count",
                 fmt::format("{} hosts with {} rails are {} devices", run.hosts, run.rails,
                             run.hosts * run.rails),
                 fmt::format("fewer; a run has at most {} devices", kMostDevices));
    return;
  }
  for (int host = 1; host <= run.hosts; ++host) {
    for (int rail = 0; rail < run.rails; ++rail) {
      DeviceDescription device = default_device(host, rail, prefix);
      device.rate_bits_per_s = rate.value_or(device.rate_bits_per_s);
      device.mtu_bytes = mtu_bytes.value_or(device.mtu_bytes);
      device.lag_ports = lag_ports.value_or(device.lag_ports);
      run.devices.push_back(std::move(device));
    }
  }
}

// The keys of a link that its table has.
LinkOverride read_link_properties(TableReader& table) {
  const std::optional<double> rate = table.rate("rate");
  const std::optional<uint64_t> delay = table.duration("delay");
  const std::optional<double> loss = table.probability("loss");
  const std::optional<uint64_t> mark = table.bytes("mark_above");
  const std::optional<uint64_t> pause = table.bytes("pause_above");
  LinkOverride link;
  link.properties = {rate.value_or(0), delay.value_or(0), loss.value_or(0), mark.value_or(0),
                     pause.value_or(0)};
  link.has_rate = rate.has_value();
  link.has_delay = delay.has_value();
  link.has_loss = loss.has_value();
  link.has_mark = mark.has_value();
  link.has_pause = pause.has_value();
  return link;
}

void read_links_of_a_tier(TableReader& fabric, std::string_view key, LinkProperties& properties) {
  if (std::optional<TableReader> link = fabric.table(key)) {
    properties = read_link_properties(*link).properties;
    link->refuse_other_keys();
  }
}

void judge_spines(TableReader& table, const FabricDescription& fabric) {
  if (fabric.kind == FabricKind::kLeafSpine) {
    if (!table.has("spines")) {
      table.refuse("spines", "missing", "how many spines a leaf-spine fabric has, spines = 4");
    }
    return;
  }
  for (const std::string_view key : {"spines", "spine_link"}) {
    if (table.has(key)) {
      table.refuse(key, "this kind of fabric has no spines",
                   "kind = \"leaf-spine\" or leave this out");
    }
  }
  if (fabric.kind == FabricKind::kIdeal) {
    for (const std::string_view key : {"leaf_per_rail", "hosts_per_leaf"}) {
      if (table.has(key)) {
        table.refuse(key, "an ideal fabric has no leaves",
                     "kind = \"leaf\" or \"leaf-spine\", or leave this out");
      }
    }
  }
}

void read_fabric_table(TableReader& table, FabricDescription& fabric) {
  constexpr uint64_t kLeastBurst = 256;
  constexpr uint64_t kMostBurst = 64 << 20;
  constexpr uint64_t kMostWindow = 1 << 30;
  fabric.kind = table.one_of<FabricKind>("kind", kKinds).value_or(fabric.kind);
  fabric.leaf_per_rail = table.flag("leaf_per_rail").value_or(fabric.leaf_per_rail);
  fabric.hosts_per_leaf = table.integer<int>("hosts_per_leaf", 1, kMostHosts).value_or(0);
  fabric.spines = table.integer<int>("spines", 1, kMostSpines).value_or(0);
  fabric.hash = table.one_of<PathHash>("hash", kHashes).value_or(fabric.hash);
  fabric.lag_choice =
      table.one_of<LagChoice>("lag_choice", kLagChoices).value_or(fabric.lag_choice);
  fabric.reroute_ns = table.duration("reroute").value_or(fabric.reroute_ns);
  fabric.window_bytes = table.bytes("window").value_or(fabric.window_bytes);
  const uint64_t burst = table.bytes("burst").value_or(fabric.burst_bytes);
  fabric.link_local_reaches = table.flag("link_local_reaches").value_or(fabric.link_local_reaches);
  read_links_of_a_tier(table, "host_link", fabric.host_link);
  read_links_of_a_tier(table, "spine_link", fabric.spine_link);
  table.refuse_other_keys();
  judge_spines(table, fabric);
  if (burst < kLeastBurst || burst > kMostBurst) {
    table.refuse("burst", fmt::format("{} bytes are not possible", burst), "256B to 64MiB");
  }
  if (fabric.window_bytes < burst || fabric.window_bytes > kMostWindow) {
    table.refuse("window", fmt::format("{} bytes are not possible", fabric.window_bytes),
                 fmt::format("at least one burst, which is {} bytes, and at most 1GiB", burst));
  }
  fabric.burst_bytes = static_cast<uint32_t>(std::min(burst, kMostBurst));
}

void read_link(TableReader& table, std::vector<LinkOverride>& links) {
  const std::optional<std::string> name = table.text("name");
  LinkOverride link = read_link_properties(table);
  table.refuse_other_keys();
  if (!name) {
    table.refuse("name", "missing", "which link, for example name = \"leaf1-spine2\"");
    return;
  }
  link.name = *name;
  links.push_back(std::move(link));
}

std::string read_end(TableReader& table, std::string_view key, const RunDescription& run) {
  const std::optional<std::string> name = table.text(key);
  if (name && devices_named(*name, run.devices).empty()) {
    table.refuse(key, quoted(*name) + " names no device", device_name_advice(*name, run.devices));
  }
  return name.value_or("");
}

void read_unreachable(TableReader& table, RunDescription& run) {
  UnreachablePair pair;
  pair.from = read_end(table, "from", run);
  pair.to = read_end(table, "to", run);
  pair.modify_error = table.error_number("error").value_or(0);
  pair.delay_ns = table.duration("delay").value_or(0);
  table.refuse_other_keys();
  for (const std::string_view key : {"from", "to"}) {
    if (!table.has(key)) {
      table.refuse(
          key, "missing",
          fmt::format("a device, for example {} = \"{}\"", key, run.devices.front().full_name()));
    }
  }
  run.fabric.unreachable.push_back(std::move(pair));
}

// Only now are all devices, leaves and spines known.
void judge_links(std::vector<TableReader>& tables, TableReader& file, const RunDescription& run) {
  const uint64_t links = number_of_links(run);
  if (links > kMostLinks) {
    file.refuse("fabric", fmt::format("these hosts, leaves and spines have {} links", links),
                fmt::format("fewer spines or more hosts_per_leaf; at most {} links are possible",
                            kMostLinks));
    return;
  }
  if (tables.empty()) {
    return;
  }
  const Topology topology(run);
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string& name = run.fabric.links[i].name;
    if (topology.links_named(name).empty()) {
      tables[i].refuse("name", quoted(name) + " names no link", link_name_advice(name, topology));
      return;
    }
  }
}

void read_run(TableReader& file, const Mistakes& mistakes, RunDescription& run) {
  run.seed = file.integer<uint64_t>("seed", 0, INT64_MAX).value_or(run.seed);
  std::optional<TableReader> hosts = file.table("hosts");
  std::optional<TableReader> fabric = file.table("fabric");
  std::vector<TableReader> links = file.tables("link");
  std::vector<TableReader> devices = file.tables("device");
  std::vector<TableReader> unreachable = file.tables("unreachable");
  file.refuse_other_keys();

  const toml::table nothing;
  Mistakes none{""};
  TableReader usual(nothing, "hosts", none);
  read_hosts(hosts ? *hosts : usual, run);
  if (fabric) {
    read_fabric_table(*fabric, run.fabric);
  }
  // Each step relies on what the ones before it have accepted.
  for (TableReader& device : devices) {
    if (!mistakes.any()) {
      read_device(device, run.devices);
    }
  }
  for (TableReader& pair : unreachable) {
    if (!mistakes.any()) {
      read_unreachable(pair, run);
    }
  }
  for (TableReader& link : links) {
    read_link(link, run.fabric.links);
  }
  if (!mistakes.any()) {
    judge_links(links, file, run);
  }
}

}  // namespace

Result<RunDescription> read_fabric(std::string_view text, const std::string& file) {
  Mistakes mistakes(file);
  RunDescription run;
  if (const std::optional<toml::table> root = parse_toml(text, mistakes)) {
    TableReader reader(*root, "", mistakes);
    read_run(reader, mistakes, run);
  }
  if (mistakes.any()) {
    return mistakes.error();
  }
  return run;
}

}  // namespace rocelane::softverbs
