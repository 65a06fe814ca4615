#include "verbs/device.h"

#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "verbs/errors.h"

namespace rocelane::verbs {

Result<DeviceList> open_devices() {
  // Data loaders fork. On a kernel without copy-on-fork the parent's registered pages would move
  // away from the NIC at the next write. A refusal means that it is too late or not needed.
  ibv_fork_init();
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(ibv_get_device_list(&count),
                                                                  &ibv_free_device_list);
  if (list == nullptr) {
    return Error{ErrorCode::kSystem,
                 fmt::format("the kernel's RDMA devices cannot be listed: {}; is the ib_uverbs "
                             "module loaded and /sys/class/infiniband_verbs visible here?",
                             errno_text(errno))};
  }
  DeviceList result;
  for (int i = 0; i < count; ++i) {
    ibv_device* device = list.get()[i];
    const std::string name = ibv_get_device_name(device);
    DeviceContext context(ibv_open_device(device));
    if (!context) {
      result.refused.push_back(
          {name,
           fmt::format("cannot be opened: {}; check /dev/infiniband/uverbs* in this container",
                       errno_text(errno))});
      continue;
    }
    ibv_device_attr attributes{};
    if (const int error = ibv_query_device(context.get(), &attributes); error != 0) {
      result.refused.push_back(
          {name, fmt::format("does not answer ibv_query_device: {}", errno_text(error))});
      continue;
    }
    result.devices.push_back({std::move(context), name, attributes});
  }
  return result;
}

Result<ibv_port_attr> query_port(ibv_context* context, uint8_t port) {
  ibv_port_attr attributes{};
  if (const int error = ibv_query_port(context, port, &attributes); error != 0) {
    return call_failed("ibv_query_port", device_name(context), error);
  }
  return attributes;
}

Result<std::vector<ibv_gid_entry>> query_gid_table(ibv_context* context, uint8_t port) {
  // The table call returns all ports of the device and only filled slots; it fails when the room is
  // too small.
  constexpr size_t kFirstGuess = 256;
  constexpr size_t kMost = 65536;
  for (size_t room = kFirstGuess; room <= kMost; room *= 4) {
    std::vector<ibv_gid_entry> entries(room);
    const ssize_t found = ibv_query_gid_table(context, entries.data(), room, 0);
    if (found == -EINVAL) {
      continue;
    }
    if (found < 0) {
      return call_failed("ibv_query_gid_table", device_name(context), static_cast<int>(-found));
    }
    entries.resize(static_cast<size_t>(found));
    std::erase_if(entries, [port](const ibv_gid_entry& entry) { return entry.port_num != port; });
    return entries;
  }
  return call_failed("ibv_query_gid_table", device_name(context), EINVAL);
}

}  // namespace rocelane::verbs
