#pragma once

// What NCCL sees as devices: every usable port, and behind them the joined ones, which NCCL makes
// of several ports. Numbers never change while the table lives. Any thread.

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/device/port.h"

namespace rocelane::net {

class DeviceTable {
 public:
  struct Entry {
    std::string name;          // unique: a port's own, or all of them: "mlx5_0+mlx5_1"
    std::vector<int> members;  // devices; of a port itself alone
    std::vector<std::shared_ptr<const Port>> ports;  // as members
  };

  explicit DeviceTable(std::span<const std::shared_ptr<Port>> ports);

  int count() const;
  // Lives as long as the table. An error, not nullptr, for a number that is not here.
  Result<const Entry*> entry(int device) const;

  // The number of the device that uses these together; who asks again gets the same one. An error
  // for what cannot be joined.
  Result<int> join(std::span<const int> members);

 private:
  const int port_count_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // grows at its end only, so entries stay where they are
};

// Why these cannot be joined, where devices 0 to `ports` - 1 are ports and further ones up to
// `devices` - 1 are joined. Pure.
Status check_members(std::span<const int> members, int ports, int devices);

}  // namespace rocelane::net
