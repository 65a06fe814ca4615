#include "net/connection/handshake_message.h"

#include <random>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

EndDescription example() {
  EndDescription description;
  description.host = "host-a";
  description.device = "mlx5_0";
  description.process_id = 4711;
  description.port = 2;
  description.mtu = 5;
  description.gids = {{Gid{1, 2, 3}, GidType::kRoceV2}, {Gid{4, 5, 6}, GidType::kRoceV1}};
  description.peer_gid_choice = 1;
  description.data_traffic_class = 106;
  description.control_traffic_class = 192;
  description.data_class_explicit = true;
  description.max_message_bytes = 1U << 30U;
  description.clear_to_send_address = 0x7f0000001000;
  description.clear_to_send_key = 0xabcd;
  description.control_lane = {0x11, 0x22};
  description.data_lanes = {{0x33, 0x44}, {0x55, 0x66}};
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
  EXPECT_EQ(received->device, "mlx5_0");
  EXPECT_EQ(received->process_id, 4711U);
  EXPECT_EQ(received->port, 2);
  EXPECT_EQ(received->mtu, 5);
  ASSERT_EQ(received->gids.size(), 2U);
  EXPECT_EQ(received->gids[1].gid[0], 4);
  EXPECT_EQ(received->gids[1].type, GidType::kRoceV1);
  EXPECT_EQ(received->peer_gid_choice, 1);
  EXPECT_EQ(received->data_traffic_class, 106);
  EXPECT_EQ(received->control_traffic_class, 192);
  EXPECT_TRUE(received->data_class_explicit);
  EXPECT_FALSE(received->control_class_explicit);
  EXPECT_EQ(received->max_message_bytes, 1U << 30U);
  EXPECT_EQ(received->clear_to_send_address, 0x7f0000001000U);
  EXPECT_EQ(received->clear_to_send_key, 0xabcdU);
  EXPECT_EQ(received->control_lane.packet_sequence, 0x22U);
  ASSERT_EQ(received->data_lanes.size(), 2U);
  EXPECT_EQ(received->data_lanes[1].queue_pair, 0x55U);
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
  EXPECT_TRUE(refuses([](auto& d) { d.mtu = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.mtu = 6; }));
  EXPECT_TRUE(refuses([](auto& d) { d.gids.clear(); }));
  EXPECT_TRUE(refuses([](auto& d) { d.gids[0].type = static_cast<GidType>(7); }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes.clear(); }));
  EXPECT_TRUE(refuses([](auto& d) { d.data_lanes[0].queue_pair = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.control_lane.queue_pair = 1U << 24U; }));
  EXPECT_TRUE(refuses([](auto& d) { d.max_message_bytes = 0; }));
  EXPECT_TRUE(refuses([](auto& d) { d.peer_gid_choice = 200; }));
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
    ASSERT_LE(description->gids.size(), static_cast<size_t>(kMaxOfferedGids));
    ASSERT_GE(description->mtu, 1);
    ASSERT_LE(description->mtu, 5);
  }
  EXPECT_GT(accepted, 0) << "the mutations never reached the accepting path";
}

}  // namespace
}  // namespace rocelane::net
