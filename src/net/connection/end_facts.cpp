#include "net/connection/end_facts.h"

#include <fmt/format.h>

namespace rocelane::net {

std::chrono::milliseconds stage_patience(const Settings& settings) {
  return std::chrono::milliseconds(settings.connect_timeout_ms);
}

std::string end_name(const std::string& device, int port, const std::string& host) {
  return fmt::format("{}:{} on {}", device, port, host);
}

std::string end_name(const EndFacts& facts) {
  const PortFacts& port = facts.port->usable().facts;
  return end_name(port.device_name, port.port, facts.host);
}

}  // namespace rocelane::net
