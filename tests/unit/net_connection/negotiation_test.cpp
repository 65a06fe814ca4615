#include "net/connection/negotiation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/device/gid.h"

namespace rocelane::net {
namespace {

using testing::HasSubstr;

PortFacts port_with(int active_mtu_bytes) {
  PortFacts port;
  port.device_name = "mlx5_0";
  port.active_mtu_bytes = active_mtu_bytes;
  port.max_message_bytes = 1U << 30U;
  return port;
}

EndFacts facts_with(int active_mtu_bytes) {
  UsablePort usable;
  usable.facts = port_with(active_mtu_bytes);
  EndFacts facts;
  facts.ports = {std::make_shared<const Port>(nullptr, usable)};
  facts.settings = std::make_shared<const Settings>(default_settings());
  facts.host = "host-a";
  return facts;
}

GidEntry gid_entry(const char* text, int index) {
  GidEntry entry;
  entry.gid = *parse_gid(text);
  entry.index = index;
  entry.interface_index = 1;
  entry.interface_name = "eth1";
  return entry;
}

// The one port of an end, or two of a kind.
std::vector<LivePort> ports_with(int active_mtu_bytes, std::vector<GidEntry> gids) {
  return {{nullptr, port_with(active_mtu_bytes), std::move(gids)}};
}

const std::vector<uint8_t> kOneLane{0};

EndDescription peer_with(std::vector<const char*> gids) {
  EndDescription peer;
  peer.host = "host-b";
  peer.ports = {{"mlx5_1", 1, 3, {}, 8U << 20U}};
  peer.control_lane = {1, 1};
  peer.data_lanes = {{2, 2}};
  for (const char* text : gids) {
    peer.ports[0].gids.push_back({*parse_gid(text), GidType::kRoceV2});
  }
  return peer;
}

TEST(Negotiation, TheSmallerMtuAndMessageLimitHold) {
  const auto agreement =
      agree_as_listener(facts_with(4096), ports_with(4096, {gid_entry("10.0.0.1", 3)}), kOneLane,
                        peer_with({"10.0.0.2"}));
  ASSERT_TRUE(agreement.ok()) << agreement.error().what;
  EXPECT_EQ(agreement->paths.routes.at(0).mtu_code, 3);
  EXPECT_EQ(agreement->max_message_bytes, 8U << 20U);
  EXPECT_EQ(agreement->paths.routes.at(0).local_gid.index, 3);
}

TEST(Negotiation, TheListenerTakesThePeersFirstGidThatItCanTalkTo) {
  const auto agreement =
      agree_as_listener(facts_with(1024), ports_with(1024, {gid_entry("fd00::1", 7)}), kOneLane,
                        peer_with({"10.0.0.2", "fd00::2"}));
  ASSERT_TRUE(agreement.ok()) << agreement.error().what;
  EXPECT_EQ(agreement->paths.routes.at(0).peer_choice, 1);
  EXPECT_EQ(agreement->paths.routes.at(0).local_gid.index, 7);
}

TEST(Negotiation, GidsThatDoNotFitAreNamedOnBothSides) {
  const auto agreement =
      agree_as_listener(facts_with(1024), ports_with(1024, {gid_entry("fd00::1", 7)}), kOneLane,
                        peer_with({"10.0.0.2"}));
  ASSERT_FALSE(agreement.ok());
  EXPECT_THAT(agreement.error().what, HasSubstr("mlx5_1:1 on host-b"));
  EXPECT_THAT(agreement.error().what, HasSubstr("10.0.0.2"));
  EXPECT_THAT(agreement.error().what, HasSubstr("mlx5_0:1 on host-a"));
  EXPECT_THAT(agreement.error().what, HasSubstr("fd00::1"));
}

TEST(Negotiation, OneRailOfManySubnetsThatAreRoutedConnects) {
  // A /31 for each link between NIC and leaf: no two NICs of the rail share a subnet.
  for (const char* peer : {"10.0.0.3", "10.0.7.1", "10.200.0.1"}) {
    const auto agreement =
        agree_as_listener(facts_with(1024), ports_with(1024, {gid_entry("10.0.0.1", 3)}), kOneLane,
                          peer_with({peer}));
    ASSERT_TRUE(agreement.ok()) << agreement.error().what;
    EXPECT_EQ(agreement->paths.routes.at(0).local_gid.index, 3);
  }
}

TEST(Negotiation, ATrafficClassSetAtOneEndHoldsForBothDirections) {
  EndFacts own = facts_with(1024);
  EndDescription peer = peer_with({"10.0.0.2"});
  peer.data_traffic_class = 106;
  peer.control_traffic_class = 106;
  peer.data_class_explicit = true;
  const auto agreement =
      agree_as_listener(own, ports_with(1024, {gid_entry("10.0.0.1", 3)}), kOneLane, peer);
  ASSERT_TRUE(agreement.ok()) << agreement.error().what;
  EXPECT_EQ(agreement->paths.data_traffic_class, 106);
  EXPECT_EQ(agreement->paths.control_traffic_class, 106);
}

TEST(Negotiation, TwoTrafficClassesAskedForAreASentence) {
  EndFacts own = facts_with(1024);
  own.traffic_classes.data = {104, true, "NCCL_IB_TC=104"};
  own.traffic_classes.control = {104, false, "the data class"};
  EndDescription peer = peer_with({"10.0.0.2"});
  peer.data_traffic_class = 106;
  peer.data_class_explicit = true;
  const auto agreement =
      agree_as_listener(own, ports_with(1024, {gid_entry("10.0.0.1", 3)}), kOneLane, peer);
  ASSERT_FALSE(agreement.ok());
  EXPECT_THAT(agreement.error().what, HasSubstr("104"));
  EXPECT_THAT(agreement.error().what, HasSubstr("106"));
}

// The listener's class is not the dialer's to know beforehand: what one end of a communicator and a
// variable ask for must come out alike at both, for either answers with its own address vector.
TEST(Negotiation, OfOneEndsWishesBothEndsUseTheSame) {
  EndFacts wishing = facts_with(1024);
  wishing.traffic_classes.data = {104, true, "the communicator's trafficClass"};
  wishing.traffic_classes.control = {184, true, "NCCL_IB_FIFO_TC=184"};
  EndFacts other = facts_with(1024);
  EndDescription wishes = peer_with({"10.0.0.2"});
  wishes.data_traffic_class = 104;
  wishes.control_traffic_class = 184;
  wishes.data_class_explicit = wishes.control_class_explicit = true;
  EndDescription none = peer_with({"10.0.0.2"});
  const std::vector<GidEntry> gids{gid_entry("10.0.0.1", 3)};
  for (const auto& agreement : {agree_as_listener(other, ports_with(1024, gids), kOneLane, wishes),
                                agree_as_dialer(other, ports_with(1024, gids), kOneLane, wishes),
                                agree_as_listener(wishing, ports_with(1024, gids), kOneLane, none),
                                agree_as_dialer(wishing, ports_with(1024, gids), kOneLane, none)}) {
    ASSERT_TRUE(agreement.ok()) << agreement.error().what;
    EXPECT_EQ(agreement->paths.data_traffic_class, 104);
    EXPECT_EQ(agreement->paths.control_traffic_class, 184);
    EXPECT_EQ(agreement->paths.service_level, 0) << "the class is no service level";
  }
}

// A small peer must not slow down the large ones that come after it, whoever dials.
TEST(Negotiation, TheMtuOfOneSmallPeerIsOfThatPairAlone) {
  const EndFacts own = facts_with(4096);
  const std::vector<GidEntry> gids{gid_entry("10.0.0.1", 3)};
  const std::vector<LivePort> ports = ports_with(4096, gids);
  EndDescription small = peer_with({"10.0.0.2"});
  EndDescription large = peer_with({"10.0.0.3"});
  large.ports[0].mtu = 5;
  const auto with_small = agree_as_listener(own, ports, kOneLane, small);
  const auto accepted = agree_as_listener(own, ports, kOneLane, large);
  const auto dialed = agree_as_dialer(own, ports, kOneLane, large);
  ASSERT_TRUE(with_small.ok() && accepted.ok() && dialed.ok());
  EXPECT_EQ(with_small->paths.routes.at(0).mtu_code, 3);
  EXPECT_EQ(accepted->paths.routes.at(0).mtu_code, 5);
  EXPECT_EQ(dialed->paths.routes.at(0).mtu_code, 5);
  EXPECT_EQ(own.ports.front()->usable().facts.active_mtu_bytes, 4096) << "what the port advertises";
  // The small peer's own view of the same pair.
  const auto of_small = agree_as_dialer(facts_with(1024), ports_with(1024, gids), kOneLane, large);
  ASSERT_TRUE(of_small.ok());
  EXPECT_EQ(of_small->paths.routes.at(0).mtu_code, with_small->paths.routes.at(0).mtu_code);
}

TEST(Negotiation, TheDialerRefusesAGidThatItDidNotOffer) {
  EndDescription answer = peer_with({"10.0.0.2"});
  answer.control_lane.peer_gid = 1;
  EXPECT_FALSE(agree_as_dialer(facts_with(1024), ports_with(1024, {gid_entry("10.0.0.1", 3)}),
                               kOneLane, answer)
                   .ok());
  answer.control_lane.peer_gid = 0;
  EXPECT_TRUE(agree_as_dialer(facts_with(1024), ports_with(1024, {gid_entry("10.0.0.1", 3)}),
                              kOneLane, answer)
                  .ok());
}

// Two ports at each end, in networks of their own.
TEST(Negotiation, EveryPairOfPortsThatLanesUseHasGidsAndAnMtuOfItsOwn) {
  std::vector<LivePort> own = ports_with(4096, {gid_entry("10.0.0.1", 3)});
  own.push_back({nullptr, port_with(1024), {gid_entry("fd00::1", 5), gid_entry("10.1.0.1", 4)}});
  EndDescription peer = peer_with({"10.0.0.2"});
  peer.ports[0].mtu = 5;
  peer.ports.push_back(
      {"mlx5_2", 1, 5, {{*parse_gid("10.1.0.2"), GidType::kRoceV2}}, uint32_t{1} << 20U});
  peer.data_lanes = {{2, 2, 0}, {3, 3, 1}, {4, 4, 0}};
  const std::vector<uint8_t> rails{0, 1, 1};
  const auto accepted = agree_as_listener(facts_with(4096), own, rails, peer);
  ASSERT_TRUE(accepted.ok()) << accepted.error().what;
  EXPECT_EQ(accepted->paths.routes.size(), 3U);
  const Route& straight = accepted->paths.route(1, 1);
  EXPECT_EQ(straight.local_gid.index, 4) << "of the peer's kind";
  EXPECT_EQ(straight.local_choice, 1);
  EXPECT_EQ(gid_text(straight.peer_gid.gid), "::ffff:10.1.0.2");
  EXPECT_EQ(straight.mtu_code, 3);
  EXPECT_EQ(accepted->paths.route(0, 0).mtu_code, 5);
  EXPECT_EQ(gid_text(accepted->paths.route(1, 0).peer_gid.gid), "::ffff:10.0.0.2");
  EXPECT_EQ(accepted->max_message_bytes, 1U << 20U) << "what the smallest port can carry";
  EXPECT_EQ(accepted->receiver_ports, 2U);
  EXPECT_THAT(straight.ports, HasSubstr("mlx5_0:1 to mlx5_2:1"));
}

TEST(Negotiation, OnePortAtEachEndIsNotNamedByEveryLane) {
  const auto agreement =
      agree_as_listener(facts_with(1024), ports_with(1024, {gid_entry("10.0.0.1", 3)}), kOneLane,
                        peer_with({"10.0.0.2"}));
  ASSERT_TRUE(agreement.ok()) << agreement.error().what;
  EXPECT_TRUE(agreement->paths.routes.at(0).ports.empty());
  EXPECT_EQ(agreement->receiver_ports, 1U);
}

// The dialer is told about each lane, and must find on it what the listener means.
TEST(Negotiation, TheDialerTakesTheGidsThatTheAnswerNamesForEachPair) {
  std::vector<LivePort> own =
      ports_with(4096, {gid_entry("10.0.0.1", 3), gid_entry("10.9.0.1", 6)});
  own.push_back({nullptr, port_with(4096), {gid_entry("10.1.0.1", 4)}});
  EndDescription answer = peer_with({"10.0.0.2", "10.9.0.2"});
  answer.control_lane = {1, 1, 0, 1, 1};
  answer.data_lanes = {{2, 2, 0, 1, 1}, {3, 3, 0, 0, 0}};
  const std::vector<uint8_t> rails{0, 1};
  const auto agreement = agree_as_dialer(facts_with(4096), own, rails, answer);
  ASSERT_TRUE(agreement.ok()) << agreement.error().what;
  EXPECT_EQ(agreement->paths.route(0, 0).local_gid.index, 6);
  EXPECT_EQ(gid_text(agreement->paths.route(0, 0).peer_gid.gid), "::ffff:10.9.0.2");
  EXPECT_EQ(agreement->paths.route(1, 0).local_gid.index, 4);
  EXPECT_EQ(gid_text(agreement->paths.route(1, 0).peer_gid.gid), "::ffff:10.0.0.2");
  EXPECT_EQ(agreement->receiver_ports, 1U);
}

}  // namespace
}  // namespace rocelane::net
