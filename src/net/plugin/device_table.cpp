#include "net/plugin/device_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"

namespace rocelane::net {

Status check_members(std::span<const int> members, int ports, int devices) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("NCCL asks to join the network devices {}, but {}",
                             fmt::join(members, ", "), why)};
  };
  if (members.size() < 2 || members.size() > kMostRails) {
    return refused(fmt::format("2 to {} can be joined", kMostRails));
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const int member = members[i];
    if (member < 0 || member >= devices) {
      return refused(fmt::format("there is no device {}: there are {}", member, devices));
    }
    if (member >= ports) {
      return refused(fmt::format("device {} is a joined one itself", member));
    }
    if (std::find(members.begin(), members.begin() + static_cast<ptrdiff_t>(i), member) !=
        members.begin() + static_cast<ptrdiff_t>(i)) {
      return refused(fmt::format("device {} is named twice", member));
    }
  }
  return {};
}

DeviceTable::DeviceTable(std::span<const std::shared_ptr<Port>> ports)
    : port_count_(static_cast<int>(ports.size())) {
  for (int device = 0; device < port_count_; ++device) {
    const std::shared_ptr<Port>& port = ports[static_cast<size_t>(device)];
    entries_.push_back({port->usable().name, {device}, {port}});
  }
}

int DeviceTable::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(entries_.size());
}

Result<const DeviceTable::Entry*> DeviceTable::entry(int device) const {
  const std::lock_guard lock(mutex_);
  if (device < 0 || device >= static_cast<int>(entries_.size())) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("NCCL asks for network device {} of {}", device, entries_.size())};
  }
  return &entries_[static_cast<size_t>(device)];
}

Result<int> DeviceTable::join(std::span<const int> members) {
  const std::lock_guard lock(mutex_);
  if (Status status = check_members(members, port_count_, static_cast<int>(entries_.size()));
      !status) {
    return std::move(status).error();
  }
  Entry joined;
  for (const int member : members) {
    const Entry& port = entries_[static_cast<size_t>(member)];
    joined.name += (joined.name.empty() ? "" : "+") + port.name;
    joined.members.push_back(member);
    joined.ports.push_back(port.ports.front());
  }
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.members == joined.members;
  });
  const auto device = static_cast<int>(known - entries_.begin());
  if (known == entries_.end()) {
    log_info("NCCL joins {} as device {}", joined.name, device);
    entries_.push_back(std::move(joined));
  }
  return device;
}

}  // namespace rocelane::net
