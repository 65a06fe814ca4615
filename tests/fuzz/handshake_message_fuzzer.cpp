// A whole message of the handshake, as a peer sends it over TCP: header and body.

#include <algorithm>

#include "fuzzer.h"
#include "net/connection/handshake_message.h"
#include "net/connection/wire.h"

namespace rocelane::fuzz {
namespace {

using net::EndDescription;
using net::kMessageHeaderBytes;
using net::MessageHeader;
using net::MessageType;
using Bytes = std::span<const std::byte>;

EndDescription small_description() {
  EndDescription description;
  description.host = "host-a";
  description.process_id = 4711;
  description.ports = {{"mlx5_0", 1, 3, {{net::Gid{1, 2, 3}, net::GidType::kRoceV2}}, 1U << 30U}};
  description.control_lane = {0x11, 0x22};
  description.data_lanes = {{0x33, 0x44}};
  return description;
}

EndDescription large_description() {
  EndDescription description = small_description();
  description.host = std::string(63, 'h');
  net::OfferedPort port{std::string(31, 'd'), 2, 5, {}, 4096};
  port.gids.assign(net::kMaxOfferedGids, {net::Gid{4, 5, 6}, net::GidType::kRoceV1});
  description.ports.assign(net::kMostRails, port);
  description.data_class_explicit = true;
  description.control_class_explicit = true;
  description.clear_to_send_address = 0x7f0000001000;
  description.clear_to_send_key = 0xabcd;
  description.data_lanes.assign(net::kMaxDataLanes, {0xffffff, 0xffffff, 7, 3, 3});
  description.small_message_class = 184;
  return description;
}

Input as_input(const std::vector<std::byte>& message) {
  const auto* data = reinterpret_cast<const uint8_t*>(message.data());
  return {data, data + message.size()};
}

bool is_lane(const net::LaneAddress& lane, const EndDescription& description) {
  return lane.queue_pair >= 1 && lane.queue_pair <= 0xffffff && lane.packet_sequence <= 0xffffff &&
         lane.rail < description.ports.size() &&
         lane.gid < description.ports[lane.rail].gids.size() &&
         lane.peer_gid < net::kMaxOfferedGids;
}

void check_port(const net::OfferedPort& port) {
  require(port.mtu >= 1 && port.mtu <= 5, "an MTU that verbs know");
  require(!port.gids.empty() && port.gids.size() <= net::kMaxOfferedGids,
          "a GID is offered, and not too many");
  require(std::all_of(port.gids.begin(), port.gids.end(),
                      [](const net::OfferedGid& gid) { return gid.type <= net::GidType::kRoceV2; }),
          "GID types that exist");
  require(port.max_message_bytes >= 4096, "work requests that carry something");
}

void check_text(const std::string& text, size_t field_bytes) {
  require(text.size() < field_bytes, "a text fits its field with an end");
  require(is_one_printable_line(text), "a peer's text is one printable line");
}

void check_description(Bytes body) {
  const auto description = net::decode_description(body);
  if (!description) {
    return;
  }
  note_accepted();
  const size_t lanes = description->data_lanes.size();
  check_text(description->host, 64);
  require(!description->ports.empty() && description->ports.size() <= net::kMostRails,
          "a port, and not too many");
  for (const net::OfferedPort& port : description->ports) {
    check_text(port.device, 32);
    check_port(port);
  }
  require(lanes >= 1 && lanes <= net::kMaxDataLanes, "a data lane, and not too many");
  require(!description->small_message_class || lanes >= 2,
          "a lane for messages that are not small");
  require(
      is_lane(description->control_lane, *description) &&
          std::all_of(description->data_lanes.begin(), description->data_lanes.end(),
                      [&](const net::LaneAddress& lane) { return is_lane(lane, *description); }),
      "queue pairs and packet sequences of 24 bits, on a port and with a GID that are there");
  const auto message = net::encode_description(*description);
  const auto again = net::decode_description(Bytes(message).subspan(kMessageHeaderBytes));
  require(again == description, "a description that was read is read the same once it is written");
}

void check_refusal(Bytes body) {
  const std::string sentence = net::decode_refusal(body);
  check_text(sentence, net::kRefusalBodyBytes);
  const auto message = net::encode_refusal(sentence);
  require(net::decode_refusal(Bytes(message).subspan(kMessageHeaderBytes)) == sentence,
          "a sentence that was read is read the same once it is written");
  note_accepted();
}

void check_proof(Bytes body) {
  net::Proof proof{};
  proof.fill(std::byte{7});
  const bool equal =
      body.size() == proof.size() && std::equal(body.begin(), body.end(), proof.begin());
  require(net::proofs_equal(body, proof) == equal, "proofs are equal in every byte and in length");
  if (equal) {
    note_accepted();
  }
}

void check_body(MessageType type, Bytes body) {
  switch (type) {
    case MessageType::kDescription:
      return check_description(body);
    case MessageType::kRefusal:
      return check_refusal(body);
    case MessageType::kGreeting:
    case MessageType::kWelcome:
      return check_proof(body);
    case MessageType::kReady:
      return note_accepted();
    case MessageType::kNone:
      break;
  }
}

}  // namespace

std::vector<Input> good_inputs() {
  net::Proof proof{};
  proof.fill(std::byte{7});
  // Descriptions have the most that can be wrong.
  return {as_input(net::encode_description(small_description())),
          as_input(net::encode_description(large_description())),
          as_input(net::encode_description(large_description())),
          as_input(net::encode_proof(MessageType::kGreeting, proof)),
          as_input(net::encode_refusal("the link of this port is down")),
          as_input(net::encode_ready())};
}

void mend(Input& input) {
  input.resize(std::max(input.size(), kMessageHeaderBytes));
  MessageHeader header{};
  std::memcpy(&header, input.data(), sizeof(header));
  header.magic = net::kHandshakeMagic;
  header.version = net::kProtocolVersion;
  header.type = static_cast<uint16_t>(1 + header.type % 5);
  header.body_bytes =
      static_cast<uint32_t>(net::body_bytes_of(static_cast<MessageType>(header.type)).value_or(0));
  std::memcpy(input.data(), &header, sizeof(header));
  input.resize(kMessageHeaderBytes + header.body_bytes);
}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  using namespace rocelane::net;
  if (size < kMessageHeaderBytes) {
    return 0;
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto header = decode_header(bytes.first<kMessageHeaderBytes>());
  if (!header) {
    return 0;
  }
  require(header->magic == kHandshakeMagic && header->version != 0, "a header of ours");
  const auto type = static_cast<MessageType>(header->type);
  const auto expected = body_bytes_of(type);
  require(!expected || *expected <= kMaxBodyBytes, "no body is longer than the longest");
  const auto body = bytes.subspan(kMessageHeaderBytes);
  // Bodies of any length must be safe to look at; the stream hands on those of the right one only.
  if (expected && header->body_bytes == *expected && body.size() == *expected) {
    check_body(type, body);
  } else {
    require(body.size() == kDescriptionBodyBytes || !decode_description(body),
            "a description has one length");
    require(is_one_printable_line(decode_refusal(body)), "a peer's text is one printable line");
  }
  return 0;
}
