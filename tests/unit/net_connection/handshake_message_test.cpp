#include "net/connection/handshake_message.h"

#include <random>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

EndDescription example() {
  EndDescription description;
  description.host = "host-a";
  description.process_id = 4711;
  description.ports = {{"mlx5_0",
                        2,
                        5,
                        {{Gid{1, 2, 3}, GidType::kRoceV2}, {Gid{4, 5, 6}, GidType::kRoceV1}},
                        1U << 30U},
                       {"mlx5_1", 1, 4, {{Gid{7}, GidType::kRoceV2}}, 4096}};
  description.data_traffic_class = 106;
  description.control_traffic_class = 192;
  description.data_class_explicit = true;
  description.clear_to_send_address = 0x7f0000001000;
  description.clear_to_send_key = 0xabcd;
  description.control_lane = {0x11, 0x22};
  description.data_lanes = {{0x33, 0x44}, {0x55, 0x66, 1, 0, 3}};
  return description;
}

std::span<const std::byte> body_of(const std::vector<std::byte>& message) {
  return std::span(message).subspan(kMessageHeaderBytes);
}

TEST(HandshakeMessage, ADescriptionArrivesAsItWasSent) {
  const auto message = encode_description(example());
  const auto header = decode_header(std::span(message).first<kMessageHeaderBytes>());
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->version, kProtocolVersion);
  EXPECT_EQ(header->body_bytes, kDescriptionBodyBytes);
  const auto received = decode_description(body_of(message));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->host, "host-a");
  EXPECT_EQ(received->process_id, 4711U);
  ASSERT_EQ(received->ports.size(), 2U);
  const OfferedPort& port = received->ports[0];
  EXPECT_EQ(port.device, "mlx5_0");
  EXPECT_EQ(port.number, 2);
  EXPECT_EQ(port.mtu, 5);
  ASSERT_EQ(port.gids.size(), 2U);
  EXPECT_EQ(port.gids[1].gid[0], 4);
  EXPECT_EQ(port.gids[1].type, GidType::kRoceV1);
  EXPECT_EQ(port.max_message_bytes, 1U << 30U);
  EXPECT_EQ(received->ports[1], example().ports[1]);
  EXPECT_EQ(received->data_traffic_class, 106);
  EXPECT_EQ(received->control_traffic_class, 192);
  EXPECT_TRUE(received->data_class_explicit);
  EXPECT_FALSE(received->control_class_explicit);
  EXPECT_EQ(received->clear_to_send_address, 0x7f0000001000U);
  EXPECT_EQ(received->clear_to_send_key, 0xabcdU);
  EXPECT_EQ(received->control_lane.packet_sequence, 0x22U);
  ASSERT_EQ(received->data_lanes.size(), 2U);
  EXPECT_EQ(received->data_lanes[1], example().data_lanes[1]);
  EXPECT_FALSE(received->small_message_class.has_value());
}

TEST(HandshakeMessage, ALaneForSmallMessagesIsTheLastOfSeveral) {
  EndDescription description = example();
  description.small_message_class = 184;
  const auto received = decode_description(body_of(encode_description(description)));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->small_message_class, 184);
  description.data_lanes.pop_back();
  EXPECT_FALSE(decode_description(body_of(encode_description(description))).has_value());
}

TEST(HandshakeMessage, ADescriptionThatMakesNoSenseIsRefused) {
  const auto refuses = [](auto&& change) {
    EndDescription description = example();
    change(description);
    return !decode_description(body_of(encode_description(description))).has_value();
  };
  EXPECT_TRUE(refuses([](auto& d) { d.ports.clear(); }));
  EXPECT_TRUE(refuses([](auto& d) { d.ports[0].mtu = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.ports[1].mtu = 6; }));
  EXPECT_TRUE(refuses([](auto& d) { d.ports[1].gids.clear(); }));
  EXPECT_TRUE(refuses([](auto& d) { d.ports[0].gids[0].type = static_cast<GidType>(7); }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes.clear(); }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes[0].queue_pair = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.control_lane.queue_pair = 1U << 24U; }));
  EXPECT_TRUE(refuses([](auto& d) { d.ports[0].max_message_bytes = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes[0].rail = 2; }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes[1].gid = 1; })) << "a GID its port does not have";
  EXPECT_TRUE(refuses([](auto& d) { d.control_lane.peer_gid = 200; }));
}

TEST(HandshakeMessage, APeersTextCannotBreakOurLogLines) {
  EndDescription description = example();
  description.host = "evil\n\x1b[31mhost";
  const auto received = decode_description(body_of(encode_description(description)));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->host, "evil??[31mhost");
}

TEST(HandshakeMessage, ARefusalKeepsItsSentenceEvenWhenItIsTooLong) {
  const auto message = encode_refusal(std::string(10000, 'x'));
  EXPECT_EQ(message.size(), kMessageHeaderBytes + kRefusalBodyBytes);
  EXPECT_EQ(decode_refusal(body_of(message)), std::string(kRefusalBodyBytes - 1, 'x'));
}

TEST(HandshakeMessage, ATextThatFillsItsFieldIsReadAsFarAsOneCanBeWritten) {
  const std::vector<std::byte> full(kRefusalBodyBytes, std::byte{'x'});
  const std::string sentence = decode_refusal(full);
  EXPECT_EQ(sentence, std::string(kRefusalBodyBytes - 1, 'x'));
  EXPECT_EQ(decode_refusal(body_of(encode_refusal(sentence))), sentence);
}

TEST(HandshakeMessage, AForeignMagicIsNoHeaderButAForeignVersionIs) {
  auto message = encode_ready();
  message[4] = std::byte{9};
  const auto header = decode_header(std::span(message).first<kMessageHeaderBytes>());
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->version, 9);
  message[0] = std::byte{'G'};
  EXPECT_FALSE(decode_header(std::span(message).first<kMessageHeaderBytes>()).has_value());
}

TEST(HandshakeMessage, ProofsMustBeEqualInEveryByteAndInLength) {
  Proof proof{};
  proof.fill(std::byte{7});
  EXPECT_TRUE(proofs_equal(proof, proof));
  EXPECT_FALSE(proofs_equal(std::span(proof).first(15), proof));
  for (std::byte& byte : proof) {
    Proof other{};
    other.fill(std::byte{7});
    byte ^= std::byte{1};
    EXPECT_FALSE(proofs_equal(other, proof));
    byte ^= std::byte{1};
  }
}

TEST(HandshakeMessage, RandomBytesNeverDecodeToADescriptionOutsideItsBounds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto good = encode_description(example());
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<std::byte> body(good.begin() + kMessageHeaderBytes, good.end());
    const unsigned changes = 1 + random() % 8;
    for (unsigned i = 0; i < changes; ++i) {
      body[random() % body.size()] = static_cast<std::byte>(random());
    }
    const auto description = decode_description(body);
    if (!description.has_value()) {
      continue;
    }
    ++accepted;
    ASSERT_LE(description->data_lanes.size(), static_cast<size_t>(kMaxDataLanes));
    ASSERT_GE(description->data_lanes.size(), 1U);
    ASSERT_LE(description->ports.size(), kMostRails);
    for (const OfferedPort& port : description->ports) {
      ASSERT_LE(port.gids.size(), static_cast<size_t>(kMaxOfferedGids));
      ASSERT_GE(port.mtu, 1);
      ASSERT_LE(port.mtu, 5);
    }
    for (const LaneAddress& lane : description->data_lanes) {
      ASSERT_LT(lane.rail, description->ports.size());
      ASSERT_LT(lane.gid, description->ports[lane.rail].gids.size());
    }
  }
  EXPECT_GT(accepted, 0) << "the mutations never reached the accepting path";
}

}  // namespace
}  // namespace rocelane::net
