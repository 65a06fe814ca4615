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
};

struct WireDescription {
  std::array<char, 64> host;
  std::array<char, 64> device;
  uint32_t process_id;
  uint8_t port;
  uint8_t mtu;
  uint8_t gid_count;
  uint8_t peer_gid_choice;
  std::array<Gid, kMaxOfferedGids> gids;
  uint8_t data_traffic_class;
  uint8_t control_traffic_class;
  uint8_t class_flags;
  uint8_t lane_count;
  uint32_t max_message_bytes;
  uint64_t clear_to_send_address;
  uint32_t clear_to_send_key;
  WireLane control_lane;
  std::array<WireLane, kMaxDataLanes> data_lanes;
  std::array<uint8_t, kMaxOfferedGids> gid_types;
  uint8_t small_message_class;
  std::array<uint8_t, 119> reserved;
};
static_assert(sizeof(WireDescription) == kDescriptionBodyBytes,
              "a description has one length; new fields take from `reserved`");
static_assert(offsetof(WireDescription, process_id) == 128 &&
              offsetof(WireDescription, gids) == 136 &&
              offsetof(WireDescription, clear_to_send_address) == 208 &&
              offsetof(WireDescription, data_lanes) == 228);

std::vector<std::byte> with_header(MessageType type, std::span<const std::byte> body) {
  const MessageHeader header{kHandshakeMagic, kProtocolVersion, static_cast<uint16_t>(type),
                             static_cast<uint32_t>(body.size()), 0};
  std::vector<std::byte> message(kMessageHeaderBytes + body.size());
  write_struct(message, header);
  std::copy(body.begin(), body.end(), message.begin() + kMessageHeaderBytes);
  return message;
}

bool lane_is_sane(const WireLane& lane) {
  return lane.queue_pair != 0 && lane.queue_pair <= kMask24 && lane.packet_sequence <= kMask24;
}

bool gid_type_is_known(uint8_t type) { return type <= static_cast<uint8_t>(GidType::kRoceV2); }

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
  write_text(wire.device, description.device);
  wire.process_id = description.process_id;
  wire.port = description.port;
  wire.mtu = description.mtu;
  wire.gid_count = static_cast<uint8_t>(std::min<size_t>(description.gids.size(), kMaxOfferedGids));
  for (size_t i = 0; i < wire.gid_count; ++i) {
    wire.gids.at(i) = description.gids[i].gid;
    wire.gid_types.at(i) = static_cast<uint8_t>(description.gids[i].type);
  }
  wire.peer_gid_choice = description.peer_gid_choice;
  wire.data_traffic_class = description.data_traffic_class;
  wire.control_traffic_class = description.control_traffic_class;
  wire.class_flags =
      static_cast<uint8_t>((description.data_class_explicit ? kDataClassExplicit : 0) |
                           (description.control_class_explicit ? kControlClassExplicit : 0) |
                           (description.small_message_class ? kSmallMessageLane : 0));
  wire.small_message_class = description.small_message_class.value_or(0);
  wire.lane_count =
      static_cast<uint8_t>(std::min<size_t>(description.data_lanes.size(), kMaxDataLanes));
  wire.max_message_bytes = description.max_message_bytes;
  wire.clear_to_send_address = description.clear_to_send_address;
  wire.clear_to_send_key = description.clear_to_send_key;
  wire.control_lane = {description.control_lane.queue_pair,
                       description.control_lane.packet_sequence};
  for (size_t i = 0; i < wire.lane_count; ++i) {
    wire.data_lanes.at(i) = {description.data_lanes[i].queue_pair,
                             description.data_lanes[i].packet_sequence};
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
  const bool sane =
      wire.mtu >= 1 && wire.mtu <= 5 && wire.gid_count >= 1 && wire.gid_count <= kMaxOfferedGids &&
      wire.peer_gid_choice < kMaxOfferedGids && wire.lane_count >= 1 &&
      wire.lane_count <= kMaxDataLanes &&
      ((wire.class_flags & kSmallMessageLane) == 0 || wire.lane_count >= 2) &&
      std::all_of(wire.gid_types.begin(), wire.gid_types.begin() + wire.gid_count,
                  gid_type_is_known) &&
      wire.max_message_bytes >= 4096 && lane_is_sane(wire.control_lane) &&
      std::all_of(wire.data_lanes.begin(), wire.data_lanes.begin() + wire.lane_count, lane_is_sane);
  if (!sane) {
    return std::nullopt;
  }
  EndDescription description;
  description.host = read_text(wire.host);
  description.device = read_text(wire.device);
  description.process_id = wire.process_id;
  description.port = wire.port;
  description.mtu = wire.mtu;
  for (size_t i = 0; i < wire.gid_count; ++i) {
    description.gids.push_back({wire.gids.at(i), static_cast<GidType>(wire.gid_types.at(i))});
  }
  description.peer_gid_choice = wire.peer_gid_choice;
  description.data_traffic_class = wire.data_traffic_class;
  description.control_traffic_class = wire.control_traffic_class;
  description.data_class_explicit = (wire.class_flags & kDataClassExplicit) != 0;
  description.control_class_explicit = (wire.class_flags & kControlClassExplicit) != 0;
  if ((wire.class_flags & kSmallMessageLane) != 0) {
    description.small_message_class = wire.small_message_class;
  }
  description.max_message_bytes = wire.max_message_bytes;
  description.clear_to_send_address = wire.clear_to_send_address;
  description.clear_to_send_key = wire.clear_to_send_key;
  description.control_lane = {wire.control_lane.queue_pair, wire.control_lane.packet_sequence};
  for (size_t i = 0; i < wire.lane_count; ++i) {
    description.data_lanes.push_back(
        {wire.data_lanes.at(i).queue_pair, wire.data_lanes.at(i).packet_sequence});
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
