#pragma once

// The messages that two ends exchange over TCP before data can flow. Layouts, versions and the
// promise about them are in docs/protocol.md. Decoders take a peer's bytes as hostile.
//
//   dialer                         listener
//     Greeting  ───────────────────▶  proof checked; a stranger is dropped without an answer
//               ◀───────────────────  Welcome (with its own proof), or Refusal with a sentence
//     Description ─────────────────▶  lanes built and raised
//               ◀───────────────────  Description, or Refusal
//     Ready     ───────────────────▶
//               ◀───────────────────  Ready   — then probes cross every lane in both directions

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/connection/listen_handle.h"
#include "net/device/port_facts.h"

namespace rocelane::net {

inline constexpr uint32_t kHandshakeMagic = 0x4e4c4352;  // "RCLN"
inline constexpr uint16_t kProtocolVersion = 4;
inline constexpr int kMaxDataLanes = 16;
inline constexpr int kMaxOfferedGids = 4;

enum class MessageType : uint16_t {
  kNone = 0,  // never sent
  kGreeting = 1,
  kWelcome = 2,
  kRefusal = 3,
  kDescription = 4,
  kReady = 5,
};

// Every message starts so, in every version there will ever be.
struct MessageHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t type;
  uint32_t body_bytes;
  uint32_t reserved;
};
inline constexpr size_t kMessageHeaderBytes = 16;

// Greeting and Welcome: the sender's proof. Frozen for all versions, so that two versions can tell
// each other.
inline constexpr size_t kProofBodyBytes = 16;
inline constexpr size_t kRefusalBodyBytes = 512;
inline constexpr size_t kDescriptionBodyBytes = 1200;
inline constexpr size_t kMaxBodyBytes = kDescriptionBodyBytes;

// One end of a lane.
struct LaneAddress {
  uint32_t queue_pair = 0;       // 24 bits
  uint32_t packet_sequence = 0;  // 24 bits
  uint8_t rail = 0;              // which of the describing end's ports
  // Listener only: the GIDs that the lane uses, among those of its own port and of the dialer's.
  uint8_t gid = 0;
  uint8_t peer_gid = 0;

  bool operator==(const LaneAddress&) const = default;
};

struct OfferedGid {
  Gid gid{};
  GidType type = GidType::kRoceV2;

  bool operator==(const OfferedGid&) const = default;
};

// One port of an end.
struct OfferedPort {
  std::string device;
  uint8_t number = 1;
  uint8_t mtu = 3;               // ibv_mtu: 1 is 256 bytes, 5 is 4096
  std::vector<OfferedGid> gids;  // candidates, best first
  uint32_t max_message_bytes = 0;

  bool operator==(const OfferedPort&) const = default;
};

// One end of a connection, as it describes itself to the other.
struct EndDescription {
  std::string host;
  uint32_t process_id = 0;
  std::vector<OfferedPort> ports;  // by rail; one, or more that share the connection
  uint8_t data_traffic_class = 0;
  uint8_t control_traffic_class = 0;
  bool data_class_explicit = false;
  bool control_class_explicit = false;
  // Where the receiving end writes its clear-to-send records: memory of the dialer, which is the
  // sending end.
  uint64_t clear_to_send_address = 0;
  uint32_t clear_to_send_key = 0;
  LaneAddress control_lane;
  std::vector<LaneAddress> data_lanes;
  // The last data lane is for small messages alone, with this class. The sending end decides.
  std::optional<uint8_t> small_message_class;

  bool operator==(const EndDescription&) const = default;
};

std::vector<std::byte> encode_proof(MessageType type, const Proof& proof);
std::vector<std::byte> encode_refusal(const std::string& sentence);
std::vector<std::byte> encode_description(const EndDescription& description);
std::vector<std::byte> encode_ready();

// nullopt: not a header of ours. A foreign version is returned, not refused: the caller says so.
std::optional<MessageHeader> decode_header(std::span<const std::byte, kMessageHeaderBytes> bytes);
// The only body length each message of our version may have.
std::optional<size_t> body_bytes_of(MessageType type);
std::string decode_refusal(std::span<const std::byte> body);
std::optional<EndDescription> decode_description(std::span<const std::byte> body);

// Compares in constant time: a stranger learns nothing by guessing byte after byte.
bool proofs_equal(std::span<const std::byte> body, const Proof& proof);

}  // namespace rocelane::net
