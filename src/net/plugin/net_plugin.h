#pragma once

// The composition root: who is built when and who owns whom. One per process while any context is
// open.

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/settings.h"
#include "net/connection/end_facts.h"
#include "net/device/port.h"
#include "net/plugin/connection_telemetry.h"
#include "net/plugin/device_table.h"
#include "net/plugin/net_api.h"
#include "net/plugin/steward.h"

namespace rocelane::net {

// What a connection needs to know to register memory.
struct RegistrationRules {
  bool gpu_memory = false;
  bool relaxed_ordering = false;
};

class NetPlugin {
 public:
  // Reads the settings, opens the ports, starts the steward, and says what was found.
  static Result<std::shared_ptr<NetPlugin>> create();

  DeviceTable& devices() { return *devices_; }
  DeviceProperties properties(const DeviceTable::Entry& device) const;
  RegistrationRules registration_rules() const;
  const std::shared_ptr<ConnectionTelemetry>& telemetry() const { return telemetry_; }

  // For one new connection over `device`.
  Result<EndFacts> end_facts(const DeviceTable::Entry& device,
                             std::optional<uint8_t> communicator_traffic_class) const;

 private:
  NetPlugin() = default;
  DeviceProperties properties_of(const Port& port) const;

  std::shared_ptr<const Settings> settings_;
  SocketAddress set_up_address_;
  std::string host_;
  bool peer_memory_ = false;
  bool gpu_direct_ = false;
  OpenedPorts ports_;
  std::unique_ptr<DeviceTable> devices_;
  std::shared_ptr<ConnectionTelemetry> telemetry_;
  std::shared_ptr<Steward> steward_;  // last: joined before the devices go
};

}  // namespace rocelane::net
