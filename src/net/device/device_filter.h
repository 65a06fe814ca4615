#pragma once

// ROCELANE_DEVICES / NCCL_IB_HCA: [^][=]name[:port[:rail[:plane]]],…

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

struct DeviceFilterEntry {
  std::string name;  // a prefix unless the filter is exact
  std::optional<int> port;
  std::optional<int> rail;
  std::optional<int> plane;
};

struct DeviceFilter {
  bool exclude = false;
  bool exact = false;
  std::vector<DeviceFilterEntry> entries;  // empty: everything is selected
  std::string source;                      // "NCCL_IB_HCA=^mlx5_2", for sentences
};

Result<DeviceFilter> parse_device_filter(std::string_view text, std::string_view source);

bool matches(const DeviceFilter& filter, const DeviceFilterEntry& entry,
             std::string_view device_name, int port);

// The first entry that names this port, whether it selects or excludes; nullptr when none does.
const DeviceFilterEntry* matching_entry(const DeviceFilter& filter, std::string_view device_name,
                                        int port);
bool selects(const DeviceFilter& filter, std::string_view device_name, int port);

// For a filter that leaves nothing: "NCCL_IB_HCA=mlx6_0 selects none of the RDMA ports here:
// mlx5_0:1, mlx5_1:1; …"
std::string selects_nothing(const DeviceFilter& filter, std::span<const PortFacts> ports);

}  // namespace rocelane::net
