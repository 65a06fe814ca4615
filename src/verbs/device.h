#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "verbs/objects.h"

namespace rocelane::verbs {

struct OpenedDevice {
  DeviceContext context;
  std::string name;
  ibv_device_attr attributes{};
};

struct RefusedDevice {
  std::string name;
  std::string reason;
};

struct DeviceList {
  std::vector<OpenedDevice> devices;
  std::vector<RefusedDevice> refused;
};

// Opens every RDMA device. One that cannot be opened is left out and listed in `refused`.
Result<DeviceList> open_devices();

Result<ibv_port_attr> query_port(ibv_context* context, uint8_t port);

// The filled entries of a port's GID table.
Result<std::vector<ibv_gid_entry>> query_gid_table(ibv_context* context, uint8_t port);

}  // namespace rocelane::verbs
