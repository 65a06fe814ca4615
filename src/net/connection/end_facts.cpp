#include "net/connection/end_facts.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocelane::net {
namespace {

template <class Ports, class NameOf>
std::string joined(const Ports& ports, NameOf name_of) {
  std::vector<std::string> names;
  std::transform(ports.begin(), ports.end(), std::back_inserter(names), name_of);
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace

std::chrono::milliseconds stage_patience(const Settings& settings) {
  return std::chrono::milliseconds(settings.connect_timeout_ms);
}

std::string end_name(const EndFacts& facts) {
  return fmt::format("{} on {}",
                     joined(facts.ports,
                            [](const std::shared_ptr<const Port>& port) {
                              const PortFacts& known = port->usable().facts;
                              return fmt::format("{}:{}", known.device_name, known.port);
                            }),
                     facts.host);
}

std::string end_name(const EndDescription& end) {
  return fmt::format("{} on {}",
                     joined(end.ports,
                            [](const OfferedPort& port) {
                              return fmt::format("{}:{}", port.device, port.number);
                            }),
                     end.host);
}

std::string device_name(const EndFacts& facts) {
  return joined(facts.ports,
                [](const std::shared_ptr<const Port>& port) { return port->usable().name; });
}

std::string device_name(const EndDescription& end) {
  return joined(end.ports, [](const OfferedPort& port) { return port.device; });
}

}  // namespace rocelane::net
