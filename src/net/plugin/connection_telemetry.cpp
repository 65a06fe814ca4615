#include "net/plugin/connection_telemetry.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/health/interface_queues.h"
#include "net/health/port_counter_files.h"

namespace rocelane::net {
namespace {

template <class Time>
int64_t nanoseconds_of(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

telemetry::PageTime page_time() {
  const int64_t monotonic = nanoseconds_of(Clock::now());
  return {static_cast<uint64_t>(monotonic),
          nanoseconds_of(std::chrono::system_clock::now()) - monotonic};
}

std::unique_ptr<telemetry::TelemetryPage> make_page(const Settings& settings) {
  if (!settings.telemetry) {
    return telemetry::TelemetryPage::hidden({}, page_time());
  }
  telemetry::PageSettings wishes;
  wishes.directory = settings.telemetry_directory;
  auto page = telemetry::TelemetryPage::create(wishes, {}, page_time());
  if (page->why_hidden().has_value()) {
    log_warn("{}", page->why_hidden()->what);
  } else {
    log_info("telemetry: {}", *page->path());
  }
  return page;
}

std::string folder_of(const Port& port) {
  const PortFacts& facts = port.usable().facts;
  return fmt::format("/sys/class/infiniband/{}/ports/{}", facts.device_name, facts.port);
}

void say(const telemetry::QueueFinding& finding) {
  if (finding.is_wrong) {
    log_warn("{}", finding.text);
  } else {
    log_info("{}", finding.text);
  }
}

uint64_t count_ns(Duration duration) { return static_cast<uint64_t>(duration.count()); }

}  // namespace

ConnectionTelemetry::ConnectionTelemetry(const Settings& settings,
                                         std::vector<std::shared_ptr<const Port>> ports)
    : page_(make_page(settings)), ports_(std::move(ports)) {
  for (const auto& port : ports_) {
    const PortFacts& facts = port->usable().facts;
    recorders_.push_back(
        page_->claim_port({facts.device_name, {}, static_cast<uint32_t>(facts.port)}));
    recorders_.back().set_state(telemetry::PortState::kActive,
                                static_cast<uint64_t>(port->usable().speed_mbps));
    watches_.push_back(std::make_unique<telemetry::QueueWatch>(
        facts.device_name, port->usable().gid.interface_name,
        telemetry::QueueSources{telemetry::read_interface_statistics,
                                telemetry::read_queue_rules}));
  }
}

ChannelRecorders ConnectionTelemetry::record(const EstablishedConnection& connection) {
  const LaneSet& lanes = *connection.lanes;
  std::vector<telemetry::SlotName> port_names;  // by rail
  for (const auto& port : lanes.ports()) {
    const auto known = std::find(ports_.begin(), ports_.end(), port);
    port_names.emplace_back();
    if (known != ports_.end()) {
      const auto index = static_cast<size_t>(known - ports_.begin());
      port_names.back() = recorders_[index].name();
      watches_[index]->carries(connection.agreement.paths.data_traffic_class);
    }
  }
  ChannelRecorders recorders;
  const auto direction =
      lanes.role() == Role::kSender ? telemetry::Direction::kSend : telemetry::Direction::kReceive;
  recorders.connection =
      page_->claim_connection({port_names.front(), direction, telemetry::ConnectionState::kReady,
                               connection.peer_host, connection.peer_device});
  for (size_t i = 0; i < lanes.data().size(); ++i) {
    const Lane& lane = lanes.data()[i];
    telemetry::LaneIdentity identity;
    identity.connection = recorders.connection.name();
    identity.port = port_names[lane.rail];
    identity.number = static_cast<uint32_t>(i);
    identity.state = telemetry::LaneState::kReady;
    identity.local_queue_pair = lane.pair.number();
    identity.remote_queue_pair = lane.peer.queue_pair;
    identity.flow_label = lane.flow_label;
    identity.udp_source_port = verbs::udp_source_port(lane.flow_label);
    const bool small = i >= lanes.large_lane_count();
    identity.kind = small ? telemetry::LaneKind::kSmallMessages : telemetry::LaneKind::kData;
    identity.traffic_class = small ? connection.agreement.paths.small_message_class
                                   : connection.agreement.paths.data_traffic_class;
    identity.round_trip_ns = count_ns(connection.round_trips.at(i));
    recorders.lanes.at(i) = page_->claim_lane(identity);
  }
  return recorders;
}

void ConnectionTelemetry::sample() {
  const telemetry::PageTime now = page_time();
  for (size_t i = 0; i < ports_.size(); ++i) {
    const telemetry::PortCounters counters = telemetry::read_port_counters(folder_of(*ports_[i]));
    recorders_[i].set_counters(counters, now.monotonic_ns);
    if (const auto finding = watches_[i]->look(counters)) {
      say(*finding);
    }
  }
  page_->set_time(now);
}

}  // namespace rocelane::net
