#include "net/plugin/net_plugin.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "base/settings_environment.h"
#include "net/device/traffic_class.h"
#include "net/plugin/host_facts.h"
#include "net/transfer/stripe_plan.h"

namespace rocelane::net {
namespace {

constexpr int kMaxConnections = 64 * 1024;
// NCCL never sends more at once, and sizes come back to it as int.
constexpr size_t kNcclLargestMessage = size_t{1} << 30;

// Their class is the sender's alone, so it is no part of what two ends agree on.
TrafficClassChoice small_messages(const Settings& settings) {
  const std::optional<int>& wish = settings.small_message_traffic_class;
  return {static_cast<uint8_t>(wish.value_or(0)), wish.has_value(),
          where_from(settings, Setting::kSmallMessageTrafficClass)};
}

void say_cautions(const Settings& settings, const Inventory& inventory) {
  for (const std::string& note : settings.notes) {
    log_info("{}", note);
  }
  if (settings.lanes > kMaxDataLanes) {
    log_warn("{}: a connection has at most {} data lanes, so {} are used",
             where_from(settings, Setting::kLanes), kMaxDataLanes, kMaxDataLanes);
  }
  for (const std::string& warning : settings.warnings) {
    log_warn("{}", warning);
  }
  for (const std::string& caution : inventory.cautions) {
    log_warn("{}", caution);
  }
  const TrafficClasses classes = resolve_traffic_classes(settings, std::nullopt);
  for (const TrafficClassChoice& choice :
       {classes.data, classes.control, small_messages(settings)}) {
    if (const auto caution = traffic_class_caution(choice); caution.has_value()) {
      log_warn("{}", *caution);
    }
    if (const auto note = traffic_class_note(choice); note.has_value()) {
      log_info("{}", *note);
    }
  }
}

}  // namespace

Result<std::shared_ptr<NetPlugin>> NetPlugin::create() {
  auto settings = load_settings(process_environment());
  if (!settings) {
    return std::move(settings).error();
  }
  std::shared_ptr<NetPlugin> plugin(new NetPlugin);
  plugin->settings_ = std::make_shared<const Settings>(std::move(*settings));
  auto ports = open_ports(*plugin->settings_);
  if (!ports) {
    return std::move(ports).error();
  }
  plugin->ports_ = std::move(*ports);
  plugin->devices_ = std::make_unique<DeviceTable>(plugin->ports_.ports);
  const auto addresses = interface_addresses();
  if (!addresses) {
    return addresses.error();
  }
  const auto interface = choose_socket_interface(*addresses, *plugin->settings_);
  if (!interface) {
    return interface.error();
  }
  plugin->set_up_address_ = socket_address_of(*interface);
  plugin->host_ = host_name();
  plugin->peer_memory_ = peer_memory_is_loaded();
  const GpuDirect wish = plugin->settings_->gpu_direct;
  const bool any_dma_buf = std::any_of(plugin->ports_.ports.begin(), plugin->ports_.ports.end(),
                                       [](const auto& port) { return port->dma_buf(); });
  plugin->gpu_direct_ =
      wish == GpuDirect::kOn || (wish == GpuDirect::kAuto && (plugin->peer_memory_ || any_dma_buf));
  plugin->telemetry_ = std::make_shared<ConnectionTelemetry>(
      *plugin->settings_, std::vector<std::shared_ptr<const Port>>(plugin->ports_.ports.begin(),
                                                                   plugin->ports_.ports.end()));
  auto steward = Steward::start(plugin->ports_.devices,
                                [telemetry = plugin->telemetry_] { telemetry->sample(); });
  if (!steward) {
    return std::move(steward).error();
  }
  plugin->steward_ = std::move(*steward);

  for (const std::string& line : start_report(*plugin->settings_)) {
    log_info("settings: {}", line);
  }
  log_info("{}", describe(plugin->ports_.inventory));
  log_info("connections are set up over {} on {}", to_text(plugin->set_up_address_),
           interface->name);
  say_cautions(*plugin->settings_, plugin->ports_.inventory);
  return plugin;
}

// A joined device is as fast as all its ports together and can do what each of them can.
DeviceProperties NetPlugin::properties(const DeviceTable::Entry& device) const {
  DeviceProperties properties = properties_of(*device.ports.front());
  properties.name = device.name.c_str();
  properties.members = device.members;
  for (size_t i = 1; i < device.ports.size(); ++i) {
    const DeviceProperties other = properties_of(*device.ports[i]);
    properties.speed_mbps += other.speed_mbps;
    properties.dma_buf = properties.dma_buf && other.dma_buf;
    properties.max_message_bytes = std::min(properties.max_message_bytes, other.max_message_bytes);
    // NCCL keeps rails and planes apart by number; ports of different ones belong to none.
    if (properties.rail != other.rail) {
      properties.rail.reset();
    }
    if (properties.plane != other.plane) {
      properties.plane.reset();
    }
  }
  return properties;
}

DeviceProperties NetPlugin::properties_of(const Port& port) const {
  const UsablePort& usable = port.usable();
  DeviceProperties properties;
  properties.name = usable.name.c_str();
  properties.pci_path = usable.facts.pci_path.empty() ? nullptr : usable.facts.pci_path.c_str();
  properties.guid = usable.guid;
  properties.gpu_memory = peer_memory_ ? gpu_direct_ : settings_->gpu_direct == GpuDirect::kOn;
  properties.dma_buf = gpu_direct_ && port.dma_buf();
  properties.speed_mbps = usable.speed_mbps;
  properties.port = usable.number_on_card;
  properties.max_connections = kMaxConnections;
  properties.rail = usable.rail;
  properties.plane = usable.plane;
  properties.max_message_bytes =
      std::min(kNcclLargestMessage, max_message_bytes(usable.facts.max_message_bytes));
  return properties;
}

RegistrationRules NetPlugin::registration_rules() const {
  return {gpu_direct_, settings_->relaxed_ordering != RelaxedOrdering::kOff};
}

Result<EndFacts> NetPlugin::end_facts(const DeviceTable::Entry& device,
                                      std::optional<uint8_t> communicator_traffic_class) const {
  std::array<uint64_t, 1> entropy{};
  if (Status status = fill_random(std::as_writable_bytes(std::span(entropy))); !status) {
    return std::move(status).error();
  }
  EndFacts facts;
  facts.ports = device.ports;
  facts.settings = settings_;
  facts.traffic_classes = resolve_traffic_classes(*settings_, communicator_traffic_class);
  facts.set_up_address = set_up_address_;
  facts.host = host_;
  facts.process_id = static_cast<uint32_t>(getpid());
  facts.entropy = entropy[0];
  // A connection that NCCL never closes must not keep our thread alive.
  facts.run_elsewhere = [steward = std::weak_ptr(steward_)](std::function<void()> task) {
    if (const auto alive = steward.lock()) {
      alive->run(std::move(task));
    }
  };
  return facts;
}

}  // namespace rocelane::net
