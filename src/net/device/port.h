#pragma once

// A usable port, opened. Shared by every connection over it; outlives them.

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "base/settings.h"
#include "net/device/inventory.h"
#include "net/device/port_facts.h"
#include "verbs/device.h"
#include "verbs/objects.h"

namespace rocelane::net {

// One opened device with its protection domain; ports of the same device share it.
struct Device {
  verbs::OpenedDevice opened;
  verbs::ProtectionDomain domain;
  bool dma_buf = false;
};

class Port {
 public:
  Port(std::shared_ptr<Device> device, UsablePort usable)
      : device_(std::move(device)), usable_(std::move(usable)) {}

  const UsablePort& usable() const { return usable_; }
  ibv_context* context() const { return device_->opened.context.get(); }
  ibv_pd* domain() const { return device_->domain.get(); }
  bool dma_buf() const { return device_->dma_buf; }
  uint8_t number() const { return static_cast<uint8_t>(usable_.facts.port); }

  // As the kernel reports them now: a GID's index may have changed since the start.
  Result<PortFacts> read_facts() const;

  // True once: a shortage concerns every connection over the port and is said for the first.
  bool first_shortage() const { return !shortage_said_.test_and_set(); }
  // Likewise for a port that connections over several ports do without.
  bool first_absence() const { return !absence_said_.test_and_set(); }

 private:
  std::shared_ptr<Device> device_;
  UsablePort usable_;
  mutable std::atomic_flag shortage_said_;
  mutable std::atomic_flag absence_said_;
};

struct OpenedPorts {
  std::vector<std::shared_ptr<Device>> devices;  // also those without a usable port
  std::vector<std::shared_ptr<Port>> ports;
  Inventory inventory;
};

// Opens every device and keeps the ports that the settings and their state allow.
Result<OpenedPorts> open_ports(const Settings& settings);

}  // namespace rocelane::net
