#include "net/health/telemetry_reader.h"

#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/health/page_check.h"
#include "net/health/page_file.h"
#include "net/health/page_owner.h"
#include "net/health/slot_reader.h"

namespace rocelane::telemetry {
namespace {

Error ends_early(const std::string& path) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} is no readable telemetry page: the file ends early.", path)};
}

TrafficReading traffic_of(const Traffic& traffic) {
  return {.bytes = traffic.bytes, .messages = traffic.messages, .errors = traffic.errors};
}

PortReading reading_of(SlotReading where, const PortSlot& slot) {
  PortReading port;
  port.slot = where;
  port.device = text_of(slot.device);
  port.interface = text_of(slot.interface);
  port.port_number = slot.port_number;
  port.state = known_or_unknown(slot.state, PortState::kActive);
  port.speed_mbps = slot.speed_mbps;
  port.sampled_monotonic_ns = slot.sampled_monotonic_ns;
  for (size_t i = 0; i < port.counters.size(); ++i) {
    if ((slot.known_counters >> i & 1) != 0) {
      port.counters[i] = slot.counters[i];
    }
  }
  return port;
}

ConnectionReading reading_of(SlotReading where, const ConnectionSlot& slot) {
  ConnectionReading connection;
  connection.slot = where;
  connection.port = {slot.port_index, slot.port_life};
  connection.direction = known_or_unknown(slot.direction, Direction::kReceive);
  connection.state = known_or_unknown(slot.state, ConnectionState::kFailed);
  connection.peer_host = text_of(slot.peer_host);
  connection.peer_device = text_of(slot.peer_device);
  connection.peer_rank = slot.peer_rank;
  connection.traffic = traffic_of(slot.traffic);
  return connection;
}

LaneReading reading_of(SlotReading where, const LaneSlot& slot) {
  LaneReading lane;
  lane.slot = where;
  lane.connection = {slot.connection_index, slot.connection_life};
  lane.port = {slot.port_index, slot.port_life};
  lane.number = slot.number;
  lane.kind = known_or_unknown(slot.kind, LaneKind::kControl);
  lane.state = known_or_unknown(slot.state, LaneState::kFailed);
  lane.local_queue_pair = slot.local_queue_pair;
  lane.remote_queue_pair = slot.remote_queue_pair;
  lane.traffic_class = slot.traffic_class;
  lane.flow_label = static_cast<uint32_t>(slot.path >> 16);
  lane.udp_source_port = static_cast<uint16_t>(slot.path & UINT16_MAX);
  lane.path_changes = slot.path_changes;
  lane.round_trip_ns = slot.round_trip_ns;
  lane.traffic = traffic_of(slot.traffic);
  lane.latency = LatencyHistogram(slot.latency);
  return lane;
}

bool owner_is_running(const PageHeader& header, int descriptor) {
  switch (fate_of(header.owner, read_own_facts(), read_start_ticks)) {
    case OwnerFate::kRunning:
      return true;
    case OwnerFate::kEnded:
      return false;
    case OwnerFate::kUnknown:
    case OwnerFate::kForeign:
      return is_locked(descriptor);
  }
  return false;
}

PageReading reading_of(const PageHeader& header) {
  PageReading page;
  page.version = header.version;
  page.pid = header.owner.pid;
  page.uid = header.owner.uid;
  page.host_name = text_of(header.owner.host_name);
  page.rank = header.rank;
  page.created_monotonic_ns = header.created_monotonic_ns;
  page.updated_monotonic_ns = header.updated_monotonic_ns;
  page.wall_minus_monotonic_ns = header.wall_minus_monotonic_ns;
  page.ports_not_shown = header.ports.not_shown;
  page.connections_not_shown = header.connections.not_shown;
  page.lanes_not_shown = header.lanes.not_shown;
  return page;
}

template <class Slot, class Reading>
void read_table(SlotReader& slots, const TableDescription& table, std::vector<Reading>& readings) {
  slots.read_all<Slot>(table, [&](uint32_t index, uint64_t life, const Slot& slot) {
    readings.push_back(reading_of(SlotReading{index, life}, slot));
  });
}

}  // namespace

std::vector<PageOnDisk> list_pages(const std::string& directory, uint32_t uid) {
  std::vector<PageOnDisk> pages;
  for (const std::string& path : list_page_files(directory, uid)) {
    const std::string name = path.substr(path.rfind('/') + 1);
    pages.push_back({.path = path, .pid = pid_in_page_name(name, uid).value_or(0)});
  }
  return pages;
}

Result<TelemetryReader> TelemetryReader::open(const std::string& directory, uint32_t uid,
                                              uint32_t pid) {
  std::optional<TelemetryReader> unused;
  Error why{ErrorCode::kInvalidArgument,
            fmt::format("Process {} of user {} has no telemetry page in {}; is it running with "
                        "NCCL_NET_PLUGIN=rocelane and ROCELANE_TELEMETRY on?",
                        pid, uid, directory)};
  for (const PageOnDisk& page : list_pages(directory, uid)) {
    if (page.pid != pid) {
      continue;
    }
    Result<TelemetryReader> reader = open_file(page.path, uid);
    if (!reader.ok()) {
      why = std::move(reader).error();
    } else if (is_locked(reader->file_.get())) {
      return reader;
    } else if (!unused) {
      unused.emplace(*std::move(reader));
    }
  }
  if (unused) {
    return *std::move(unused);
  }
  return why;
}

Result<TelemetryReader> TelemetryReader::open_file(const std::string& path, uint32_t uid) {
  Result<FileDescriptor> file = open_page_file(path, uid, O_RDONLY);
  if (!file.ok()) {
    return std::move(file).error();
  }
  return TelemetryReader(path, uid, *std::move(file));
}

Result<PageHeader> TelemetryReader::read_header() const {
  PageHeader header{};
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0 ||
      pread(file_.get(), &header, sizeof(header), 0) != static_cast<ssize_t>(sizeof(header))) {
    return ends_early(path_);
  }
  if (Status status = check_header(header, static_cast<uint64_t>(facts.st_size), path_);
      !status.ok()) {
    return std::move(status).error();
  }
  if (header.owner.uid != uid_) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is no readable telemetry page: it belongs to user {} and says it "
                             "is of user {}.",
                             path_, uid_, header.owner.uid)};
  }
  return header;
}

Result<PageReading> TelemetryReader::read() const {
  Result<PageHeader> header = read_header();
  if (!header.ok()) {
    return std::move(header).error();
  }
  PageReading page = reading_of(*header);
  page.owner_is_running = owner_is_running(*header, file_.get());
  SlotReader slots(file_.get());
  read_table<PortSlot>(slots, header->ports, page.ports);
  read_table<ConnectionSlot>(slots, header->connections, page.connections);
  read_table<LaneSlot>(slots, header->lanes, page.lanes);
  if (slots.truncated()) {
    return ends_early(path_);
  }
  page.slots_that_kept_changing = slots.kept_changing();
  return page;
}

}  // namespace rocelane::telemetry
