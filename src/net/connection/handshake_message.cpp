#include "net/connection/handshake_message.h"

#include <algorithm>

#include "net/connection/wire.h"

namespace rocelane::net {
namespace {

static_assert(sizeof(MessageHeader) == kMessageHeaderBytes);

constexpr uint32_t kMask24 = 0xffffff;
constexpr uint8_t kDataClassExplicit = 1;
constexpr uint8_t kControlClassExplicit = 2;
constexpr uint8_t kSmallMessageLane = 4;

struct WireLane {
  uint32_t queue_pair;
  uint32_t packet_sequence;
  uint8_t rail;
  uint8_t gid;
  uint8_t peer_gid;
  uint8_t reserved;
};
static_assert(sizeof(WireLane) == 12);

struct WirePort {
  std::array<char, 32> device;
  std::array<Gid, kMaxOfferedGids> gids;
  std::array<uint8_t, kMaxOfferedGids> gid_types;
  uint8_t number;
  uint8_t mtu;
  uint8_t gid_count;
  uint8_t reserved;
  uint32_t max_message_bytes;
};
static_assert(sizeof(WirePort) == 108);

struct WireDescription {
  std::array<char, 64> host;
  uint32_t process_id;
  uint8_t data_traffic_class;
  uint8_t control_traffic_class;
  uint8_t class_flags;
  uint8_t small_message_class;
  uint64_t clear_to_send_address;
  uint32_t clear_to_send_key;
  uint8_t port_count;
  uint8_t lane_count;
  std::array<uint8_t, 2> reserved;
  WireLane control_lane;
  std::array<WireLane, kMaxDataLanes> data_lanes;
  std::array<WirePort, kMostRails> ports;
  std::array<uint8_t, 44> more_reserved;
};
static_assert(sizeof(WireDescription) == kDescriptionBodyBytes,
              "a description has one length; new fields take from `reserved`");
static_assert(offsetof(WireDescription, process_id) == 64 &&
              offsetof(WireDescription, clear_to_send_address) == 72 &&
              offsetof(WireDescription, control_lane) == 88 &&
              offsetof(WireDescription, ports) == 292);

std::vector<std::byte> with_header(MessageType type, std::span<const std::byte> body) {
  const MessageHeader header{kHandshakeMagic, kProtocolVersion, static_cast<uint16_t>(type),
                             static_cast<uint32_t>(body.size()), 0};
  std::vector<std::byte> message(kMessageHeaderBytes + body.size());
  write_struct(message, header);
  std::copy(body.begin(), body.end(), message.begin() + kMessageHeaderBytes);
  return message;
}

bool gid_type_is_known(uint8_t type) { return type <= static_cast<uint8_t>(GidType::kRoceV2); }

bool port_is_sane(const WirePort& port) {
  return port.mtu >= 1 && port.mtu <= 5 && port.gid_count >= 1 &&
         port.gid_count <= kMaxOfferedGids && port.max_message_bytes >= 4096 &&
         std::all_of(port.gid_types.begin(), port.gid_types.begin() + port.gid_count,
                     gid_type_is_known);
}

// The peer's choice among our GIDs is checked where these are known. Needs sane ports.
bool lane_is_sane(const WireLane& lane, const WireDescription& wire) {
  return lane.queue_pair != 0 && lane.queue_pair <= kMask24 && lane.packet_sequence <= kMask24 &&
         lane.rail < wire.port_count && lane.gid < wire.ports.at(lane.rail).gid_count &&
         lane.peer_gid < kMaxOfferedGids;
}

bool is_sane(const WireDescription& wire) {
  const bool counts_fit = wire.port_count >= 1 && wire.port_count <= kMostRails &&
                          wire.lane_count >= 1 && wire.lane_count <= kMaxDataLanes &&
                          ((wire.class_flags & kSmallMessageLane) == 0 || wire.lane_count >= 2);
  return counts_fit &&
         std::all_of(wire.ports.begin(), wire.ports.begin() + wire.port_count, port_is_sane) &&
         lane_is_sane(wire.control_lane, wire) &&
         std::all_of(wire.data_lanes.begin(), wire.data_lanes.begin() + wire.lane_count,
                     [&wire](const WireLane& lane) { return lane_is_sane(lane, wire); });
}

WireLane to_wire(const LaneAddress& lane) {
  return {lane.queue_pair, lane.packet_sequence, lane.rail, lane.gid, lane.peer_gid, 0};
}

LaneAddress from_wire(const WireLane& lane) {
  return {lane.queue_pair, lane.packet_sequence, lane.rail, lane.gid, lane.peer_gid};
}

WirePort to_wire(const OfferedPort& port) {
  WirePort wire{};
  write_text(wire.device, port.device);
  wire.number = port.number;
  wire.mtu = port.mtu;
  wire.gid_count = static_cast<uint8_t>(std::min<size_t>(port.gids.size(), kMaxOfferedGids));
  for (size_t i = 0; i < wire.gid_count; ++i) {
    wire.gids.at(i) = port.gids[i].gid;
    wire.gid_types.at(i) = static_cast<uint8_t>(port.gids[i].type);
  }
  wire.max_message_bytes = port.max_message_bytes;
  return wire;
}

OfferedPort from_wire(const WirePort& wire) {
  OfferedPort port;
  port.device = read_text(wire.device);
  port.number = wire.number;
  port.mtu = wire.mtu;
  for (size_t i = 0; i < wire.gid_count; ++i) {
    port.gids.push_back({wire.gids.at(i), static_cast<GidType>(wire.gid_types.at(i))});
  }
  port.max_message_bytes = wire.max_message_bytes;
  return port;
}

}  // namespace

std::vector<std::byte> encode_proof(MessageType type, const Proof& proof) {
  return with_header(type, proof);
}

std::vector<std::byte> encode_refusal(const std::string& sentence) {
  std::array<char, kRefusalBodyBytes> body{};
  write_text(body, sentence);
  return with_header(MessageType::kRefusal, std::as_bytes(std::span(body)));
}

std::vector<std::byte> encode_ready() { return with_header(MessageType::kReady, {}); }

std::vector<std::byte> encode_description(const EndDescription& description) {
  WireDescription wire{};
  write_text(wire.host, description.host);
  wire.process_id = description.process_id;
  wire.port_count = static_cast<uint8_t>(std::min(description.ports.size(), kMostRails));
  for (size_t i = 0; i < wire.port_count; ++i) {
    wire.ports.at(i) = to_wire(description.ports[i]);
  }
  wire.data_traffic_class = description.data_traffic_class;
  wire.control_traffic_class = description.control_traffic_class;
  wire.class_flags =
      static_cast<uint8_t>((description.data_class_explicit ? kDataClassExplicit : 0) |
                           (description.control_class_explicit ? kControlClassExplicit : 0) |
                           (description.small_message_class ? kSmallMessageLane : 0));
  wire.small_message_class = description.small_message_class.value_or(0);
  wire.lane_count =
      static_cast<uint8_t>(std::min<size_t>(description.data_lanes.size(), kMaxDataLanes));
  wire.clear_to_send_address = description.clear_to_send_address;
  wire.clear_to_send_key = description.clear_to_send_key;
  wire.control_lane = to_wire(description.control_lane);
  for (size_t i = 0; i < wire.lane_count; ++i) {
    wire.data_lanes.at(i) = to_wire(description.data_lanes[i]);
  }
  return with_header(MessageType::kDescription, std::as_bytes(std::span(&wire, 1)));
}

std::optional<MessageHeader> decode_header(std::span<const std::byte, kMessageHeaderBytes> bytes) {
  const auto header = read_struct<MessageHeader>(bytes);
  if (header.magic != kHandshakeMagic || header.version == 0) {
    return std::nullopt;
  }
  return header;
}

std::optional<size_t> body_bytes_of(MessageType type) {
  switch (type) {
    case MessageType::kGreeting:
    case MessageType::kWelcome:
      return kProofBodyBytes;
    case MessageType::kRefusal:
      return kRefusalBodyBytes;
    case MessageType::kDescription:
      return kDescriptionBodyBytes;
    case MessageType::kReady:
      return 0;
    case MessageType::kNone:
      break;
  }
  return std::nullopt;
}

std::string decode_refusal(std::span<const std::byte> body) {
  if (body.size() != kRefusalBodyBytes) {
    return "(the reason could not be read)";
  }
  return read_text(read_struct<std::array<char, kRefusalBodyBytes>>(body));
}

std::optional<EndDescription> decode_description(std::span<const std::byte> body) {
  if (body.size() != kDescriptionBodyBytes) {
    return std::nullopt;
  }
  const auto wire = read_struct<WireDescription>(body);
  if (!is_sane(wire)) {
    return std::nullopt;
  }
  EndDescription description;
  description.host = read_text(wire.host);
  description.process_id = wire.process_id;
  for (size_t i = 0; i < wire.port_count; ++i) {
    description.ports.push_back(from_wire(wire.ports.at(i)));
  }
  description.data_traffic_class = wire.data_traffic_class;
  description.control_traffic_class = wire.control_traffic_class;
  description.data_class_explicit = (wire.class_flags & kDataClassExplicit) != 0;
  description.control_class_explicit = (wire.class_flags & kControlClassExplicit) != 0;
  if ((wire.class_flags & kSmallMessageLane) != 0) {
    description.small_message_class = wire.small_message_class;
  }
  description.clear_to_send_address = wire.clear_to_send_address;
  description.clear_to_send_key = wire.clear_to_send_key;
  description.control_lane = from_wire(wire.control_lane);
  for (size_t i = 0; i < wire.lane_count; ++i) {
    description.data_lanes.push_back(from_wire(wire.data_lanes.at(i)));
  }
  return description;
}

bool proofs_equal(std::span<const std::byte> body, const Proof& proof) {
  if (body.size() != proof.size()) {
    return false;
  }
  std::byte difference{0};
  for (size_t i = 0; i < proof.size(); ++i) {
    difference |= body[i] ^ proof.at(i);
  }
  return difference == std::byte{0};
}

}  // namespace rocelane::net
