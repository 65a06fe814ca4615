#include "softverbs/description/read_device.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "softverbs/description/bounds.h"
#include "softverbs/description/device_names.h"
#include "softverbs/description/read_gid.h"

namespace rocelane::softverbs {
namespace {

struct LimitRow {
  std::string_view key;
  uint32_t DeviceLimits::*limit;
  int64_t most;
};

constexpr std::array<LimitRow, 11> kLimits{{
    {"queue_pairs", &DeviceLimits::queue_pairs, 1 << 24},
    {"completion_queues", &DeviceLimits::completion_queues, 1 << 24},
    {"memory_regions", &DeviceLimits::memory_regions, 1 << 24},
    {"protection_domains", &DeviceLimits::protection_domains, 1 << 24},
    {"shared_receive_queues", &DeviceLimits::shared_receive_queues, 1 << 24},
    {"work_requests", &DeviceLimits::work_requests, 1 << 16},
    {"completion_entries", &DeviceLimits::completion_entries, (1 << 22) - 1},
    {"scatter_gather_entries", &DeviceLimits::scatter_gather_entries, kMostSges},
    {"inline_bytes", &DeviceLimits::inline_bytes, 1024},
    {"message_bytes", &DeviceLimits::message_bytes, 1LL << 31},
    {"outstanding_reads", &DeviceLimits::outstanding_reads, 128},
}};

constexpr std::array<Word<bool>, 2> kPortStates{{{"up", true}, {"down", false}}};

// One [[device]]: what it leaves unsaid stays as it was.
struct DeviceChange {
  std::optional<double> rate;
  std::optional<uint32_t> mtu_bytes;
  std::optional<uint8_t> lag_ports;
  std::optional<bool> port_up, dma_buf, relaxed_ordering;
  std::optional<int> open_error;
  std::optional<std::string> pci_path;
  std::optional<std::vector<GidDescription>> gids;
  std::array<std::optional<uint32_t>, kLimits.size()> limits;
};

std::optional<std::vector<GidDescription>> read_gids(TableReader& table) {
  if (!table.has("gids")) {
    return std::nullopt;
  }
  std::vector<GidDescription> gids;
  for (TableReader& entry : table.tables("gids")) {
    const std::optional<GidDescription> gid = read_gid(entry);
    if (!gid) {
      return std::nullopt;
    }
    const bool taken = std::any_of(gids.begin(), gids.end(), [&gid](const GidDescription& other) {
      return other.index == gid->index;
    });
    if (taken) {
      entry.refuse("index", fmt::format("{} is there already", gid->index), "each index once");
      return std::nullopt;
    }
    gids.push_back(*gid);
  }
  std::sort(gids.begin(), gids.end(), [](const GidDescription& one, const GidDescription& other) {
    return one.index < other.index;
  });
  return gids;
}

void read_limits(TableReader& table, DeviceChange& change) {
  std::optional<TableReader> limits = table.table("limits");
  if (!limits) {
    return;
  }
  for (size_t i = 0; i < kLimits.size(); ++i) {
    change.limits[i] = limits->integer<uint32_t>(kLimits[i].key, 0, kLimits[i].most);
  }
  limits->refuse_other_keys();
}

std::optional<std::string> read_pci_path(TableReader& table) {
  constexpr std::string_view kStart = "/sys/devices/";
  constexpr size_t kLongest = 255;
  std::optional<std::string> path = table.text("pci_path");
  if (path && (!path->starts_with(kStart) || path->size() > kLongest)) {
    table.refuse("pci_path", quoted(*path) + " is not possible",
                 "a path such as \"/sys/devices/pci0000:00/0000:00:01.0/0000:41:00.0\"");
  }
  return path;
}

DeviceChange read_change(TableReader& table) {
  DeviceChange change;
  read_port_claims(table, change.rate, change.mtu_bytes, change.lag_ports);
  change.port_up = table.one_of<bool>("port", kPortStates);
  change.open_error = table.error_number("open_error");
  change.dma_buf = table.flag("dma_buf");
  change.relaxed_ordering = table.flag("relaxed_ordering");
  change.pci_path = read_pci_path(table);
  change.gids = read_gids(table);
  read_limits(table, change);
  return change;
}

void apply(const DeviceChange& change, DeviceDescription& device) {
  device.rate_bits_per_s = change.rate.value_or(device.rate_bits_per_s);
  device.mtu_bytes = change.mtu_bytes.value_or(device.mtu_bytes);
  device.lag_ports = change.lag_ports.value_or(device.lag_ports);
  device.port_up = change.port_up.value_or(device.port_up);
  device.open_error = change.open_error.value_or(device.open_error);
  device.dma_buf = change.dma_buf.value_or(device.dma_buf);
  device.relaxed_ordering = change.relaxed_ordering.value_or(device.relaxed_ordering);
  device.pci_path = change.pci_path.value_or(device.pci_path);
  if (change.gids) {
    device.gids = *change.gids;
  }
  for (size_t i = 0; i < kLimits.size(); ++i) {
    uint32_t& limit = device.limits.*kLimits[i].limit;
    limit = change.limits[i].value_or(limit);
  }
}

}  // namespace

void read_port_claims(TableReader& table, std::optional<double>& rate,
                      std::optional<uint32_t>& mtu_bytes, std::optional<uint8_t>& lag_ports) {
  constexpr std::array<uint32_t, 5> kMtus{256, 512, 1024, 2048, 4096};
  rate = table.rate("rate");
  if (rate && *rate == 0) {
    table.refuse("rate", "a port claims a rate of its own", "for example \"100Gb/s\"");
  }
  mtu_bytes = table.integer<uint32_t>("mtu", kMtus.front(), kMtus.back());
  if (mtu_bytes && std::find(kMtus.begin(), kMtus.end(), *mtu_bytes) == kMtus.end()) {
    table.refuse("mtu", fmt::format("{} is no MTU of RoCE", *mtu_bytes),
                 "256, 512, 1024, 2048 or 4096");
  }
  lag_ports = table.integer<uint8_t>("lag_ports", 1, kMostLagPorts);
}

void read_device(TableReader table, std::vector<DeviceDescription>& devices) {
  const std::optional<std::string> name = table.text("name");
  const DeviceChange change = read_change(table);
  table.refuse_other_keys();
  if (!name) {
    table.refuse("name", "missing",
                 fmt::format("which device, for example name = \"{}\"", devices[0].full_name()));
    return;
  }
  const std::vector<int> found = devices_named(*name, devices);
  if (found.empty()) {
    table.refuse("name", quoted(*name) + " names no device", device_name_advice(*name, devices));
  }
  for (const int device : found) {
    apply(change, devices[static_cast<size_t>(device)]);
  }
}

}  // namespace rocelane::softverbs
