#include "net/connection/handshake.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "net/connection/clear_to_send.h"
#include "net/connection/lane_pairing.h"
#include "net/device/gid.h"
#include "net/device/path_mtu.h"
#include "net/device/traffic_class.h"

namespace rocelane::net {
namespace {

uint8_t mtu_code_of(const PortFacts& port, const Settings& settings) {
  const int bytes = std::min(port.active_mtu_bytes, settings.mtu_bytes.value_or(kLargestMtuBytes));
  return static_cast<uint8_t>(mtu_code_of_bytes(bytes).value_or(1));
}

OfferedPort offer_of(const LivePort& live, const Settings& settings) {
  OfferedPort port;
  port.device = live.facts.device_name;
  port.number = static_cast<uint8_t>(live.facts.port);
  port.mtu = mtu_code_of(live.facts, settings);
  port.max_message_bytes = live.facts.max_message_bytes;
  std::transform(live.gids.begin(), live.gids.end(), std::back_inserter(port.gids),
                 [](const GidEntry& entry) {
                   return OfferedGid{entry.gid, entry.type};
                 });
  return port;
}

LaneAddress address_of(const Lane& lane, const std::optional<Agreement>& agreement) {
  LaneAddress address{lane.pair.number(), lane.packet_sequence, lane.rail};
  if (agreement.has_value()) {
    const Route& route = agreement->paths.route(lane.rail, lane.peer.rail);
    address.gid = route.local_choice;
    address.peer_gid = route.peer_choice;
  }
  return address;
}

// How many of an end's data lanes are for all messages.
size_t large_lanes_of(const EndDescription& end) {
  return end.data_lanes.size() - (end.small_message_class.has_value() ? 1 : 0);
}

}  // namespace

Status Handshake::prepare() {
  std::optional<Error> trouble;
  for (const std::shared_ptr<const Port>& port : facts_.ports) {
    auto live = read_port(port);
    if (live) {
      ports_.push_back(std::move(*live));
      continue;
    }
    if (facts_.ports.size() > 1 && port->first_absence()) {
      log_warn(
          "{} is left out of connections of {} as long as this is so: {} (said once for this "
          "port)",
          port->usable().name, device_name(facts_), live.error().what);
    }
    trouble = std::move(live).error();
  }
  return ports_.empty() ? Status(std::move(*trouble)) : Status();
}

Result<LivePort> Handshake::read_port(const std::shared_ptr<const Port>& port) const {
  auto facts = port->read_facts();
  if (!facts) {
    return std::move(facts).error();
  }
  if (!facts->active) {
    return Error{ErrorCode::kSystem, "the link of this port is down"};
  }
  const GidWishes wishes = gid_wishes(*facts_.settings);
  auto gids = rank_gids(*facts, wishes);
  if (gids.empty()) {
    return Error{ErrorCode::kInvalidArgument, why_no_gid(*facts, wishes)};
  }
  if (gids.size() > kMaxOfferedGids) {
    gids.resize(kMaxOfferedGids);
  }
  return LivePort{port, std::move(*facts), std::move(gids)};
}

std::vector<int> Handshake::speeds() const {
  std::vector<int> speeds;
  std::transform(
      ports_.begin(), ports_.end(), std::back_inserter(speeds), [](const LivePort& live) {
        return live.facts.speed_mbps > 0 ? live.facts.speed_mbps : live.port->usable().speed_mbps;
      });
  return speeds;
}

Status Handshake::build_lanes(std::span<const uint8_t> rails) {
  std::vector<std::shared_ptr<const Port>> ports;
  std::transform(ports_.begin(), ports_.end(), std::back_inserter(ports),
                 [](const LivePort& live) { return live.port; });
  auto lanes = LaneSet::create(std::move(ports), *facts_.completions, role_, rails, facts_.entropy);
  if (!lanes) {
    return std::move(lanes).error();
  }
  lanes_ = std::move(*lanes);
  probe_.emplace(lanes_);
  return {};
}

Status Handshake::offer_lanes(size_t peer_ports) {
  if (Status status = build_lanes(spread_lanes(speeds(), peer_ports, facts_.settings->lanes));
      !status) {
    return status;
  }
  if (facts_.settings->small_message_traffic_class.has_value()) {
    if (Status status = lanes_->add_small_message_lane(); !status) {
      return status;
    }
  }
  // Whether keys will come is the listener's: by what its handle says it has several ports, and it
  // may have fewer now.
  auto ring = RegisteredBuffer::create(lanes_->ports()[lanes_->control().rail],
                                       clear_to_send_ring_bytes(peer_ports > 1));
  if (!ring) {
    return std::move(ring).error();
  }
  ring_.emplace(std::move(*ring));
  return {};
}

std::vector<std::byte> Handshake::own_description() const {
  EndDescription own;
  own.host = facts_.host;
  own.process_id = facts_.process_id;
  std::transform(ports_.begin(), ports_.end(), std::back_inserter(own.ports),
                 [this](const LivePort& live) { return offer_of(live, *facts_.settings); });
  const TrafficClassOffer offer = net::offer_of(facts_.traffic_classes);
  own.data_traffic_class = offer.data;
  own.control_traffic_class = offer.control;
  own.data_class_explicit = offer.data_is_explicit;
  own.control_class_explicit = offer.control_is_explicit;
  if (ring_.has_value()) {
    own.clear_to_send_address = ring_->address();
    own.clear_to_send_key = ring_->remote_key();
  }
  own.control_lane = address_of(lanes_->control(), agreement_);
  if (lanes_->has_small_message_lane()) {
    own.small_message_class =
        agreement_.has_value()
            ? agreement_->paths.small_message_class
            : static_cast<uint8_t>(facts_.settings->small_message_traffic_class.value_or(0));
  }
  for (const Lane& lane : lanes_->data()) {
    own.data_lanes.push_back(address_of(lane, agreement_));
  }
  return encode_description(own);
}

Status Handshake::agree(const EndDescription& peer, TimePoint deadline) {
  peer_name_ = fmt::format("{} (process {})", end_name(peer), peer.process_id);
  peer_host_ = peer.host;
  peer_device_ = device_name(peer);
  if (Status status = role_ == Role::kSender ? take_answer(peer) : take_offer(peer); !status) {
    return status;
  }
  const size_t lanes = lanes_->large_lane_count();
  std::vector<uint8_t> rails;
  std::transform(lanes_->data().begin(), lanes_->data().begin() + static_cast<ptrdiff_t>(lanes),
                 std::back_inserter(rails), [](const Lane& lane) { return lane.rail; });
  auto agreement = role_ == Role::kSender ? agree_as_dialer(facts_, ports_, rails, peer)
                                          : agree_as_listener(facts_, ports_, rails, peer);
  if (!agreement) {
    return std::move(agreement).error();
  }
  agreement->data_lanes = lanes;
  agreement_ = std::move(*agreement);
  LanePaths& paths = agreement_->paths;
  paths.data_peers.resize(lanes);
  if (lanes_->has_small_message_lane()) {
    paths.data_peers.push_back(peer.data_lanes.back());
    paths.small_message_class = *peer.small_message_class;
  }
  peer_ring_ = {peer.clear_to_send_address, peer.clear_to_send_key};
  bring_up_.emplace(lanes_, agreement_->paths, facts_.run_elsewhere, deadline);
  return {};
}

// Of the lanes that are offered the listener builds as many as it would have offered itself; the
// dialer sees their number in the answer.
Status Handshake::take_offer(const EndDescription& peer) {
  const std::vector<int> own_speeds = speeds();
  const size_t lanes =
      std::min(spread_lanes(own_speeds, peer.ports.size(), facts_.settings->lanes).size(),
               large_lanes_of(peer));
  std::vector<uint8_t> peer_rails;
  std::transform(peer.data_lanes.begin(), peer.data_lanes.begin() + static_cast<ptrdiff_t>(lanes),
                 std::back_inserter(peer_rails), [](const LaneAddress& lane) { return lane.rail; });
  if (Status status = build_lanes(match_lanes(peer_rails, own_speeds)); !status) {
    return status;
  }
  return peer.small_message_class.has_value() ? lanes_->add_small_message_lane() : Status();
}

// The dialer keeps what the listener took of its offer.
Status Handshake::take_answer(const EndDescription& peer) {
  const size_t lanes = large_lanes_of(peer);
  if (lanes > lanes_->large_lane_count() ||
      peer.small_message_class.has_value() != lanes_->has_small_message_lane()) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{} answered with {} data lanes where {} were offered; the two ends "
                             "run versions that do not fit",
                             peer_name_, peer.data_lanes.size(), lanes_->data().size())};
  }
  if (ring_->bytes().size() < clear_to_send_ring_bytes(peer.ports.size() > 1)) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{} answered with {} ports where its handle spoke of one", peer_name_,
                             peer.ports.size())};
  }
  lanes_->keep_large_lanes(lanes);
  return {};
}

Result<bool> Handshake::raise(TimePoint now) { return bring_up_->step(now); }

Status Handshake::start_probe(TimePoint now) { return probe_->send(now); }

Result<bool> Handshake::probe(TimePoint now, TimePoint deadline) {
  const LaneProbe::Progress progress = probe_->step(now);
  if (progress.failure.has_value()) {
    return Error{ErrorCode::kRemote,
                 describe_failed_completion(*progress.failure, *lanes_, *agreement_,
                                            end_name(facts_), peer_name_, link_.peer_is_gone())};
  }
  if (!progress.finished && now >= deadline) {
    const Lane& first = *probe_->first_missing();
    const Route& silent = agreement_->paths.route(first.rail, first.peer.rail);
    return Error{ErrorCode::kRemote,
                 fmt::format("packets do not cross between {} and {}: {}; check cabling, VLAN, "
                             "routes and that the fabric carries traffic classes {} and {}",
                             describe(silent.local_gid), gid_text(silent.peer_gid.gid),
                             probe_->describe_missing(),
                             describe_traffic_class(agreement_->paths.data_traffic_class),
                             describe_traffic_class(agreement_->paths.control_traffic_class))};
  }
  if (!progress.finished) {
    if (Status silence = expect_silence(); !silence) {
      return std::move(silence).error();
    }
  }
  return progress.finished;
}

Result<std::optional<Message>> Handshake::await(MessageType expected, TimePoint now,
                                                TimePoint deadline, std::string_view silence) {
  if (const auto flushed = link_.flush(); !flushed) {
    return flushed.error();
  }
  auto message = link_.receive();
  if (!message) {
    return message;
  }
  if (!message->has_value()) {
    if (now >= deadline) {
      return Error{ErrorCode::kRemote, std::string(silence)};
    }
    return message;
  }
  if (Status status = check(**message, expected); !status) {
    return std::move(status).error();
  }
  return message;
}

Status Handshake::check(const Message& message, MessageType expected) {
  if (message.type == MessageType::kRefusal) {
    refused_by_peer_ = true;
    return Error{ErrorCode::kRemote, "the peer gave up: " + decode_refusal(message.body)};
  }
  if (message.version != kProtocolVersion) {
    return Error{ErrorCode::kRemote,
                 fmt::format("it speaks protocol version {}, this end version {}: install the same "
                             "Rocelane on every host",
                             message.version, kProtocolVersion)};
  }
  if (message.type != expected) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the peer sent message type {} where {} belongs",
                             static_cast<int>(message.type), static_cast<int>(expected))};
  }
  return {};
}

Status Handshake::expect_silence() {
  const auto message = link_.receive();
  if (!message) {
    return message.error();
  }
  if (!message->has_value()) {
    return {};
  }
  // Nothing but a Refusal has a place here; the type that is asked for never comes.
  return check(**message, MessageType::kNone);
}

std::unique_ptr<EstablishedConnection> Handshake::finish() {
  const std::vector<Duration> round_trips = probe_->round_trips();
  probe_.reset();
  log_info("{} to {}: ready; {}; probe round trip {} us", end_name(facts_), peer_name_,
           describe(*agreement_),
           std::chrono::duration_cast<std::chrono::microseconds>(
               *std::max_element(round_trips.begin(), round_trips.end()))
               .count());
  auto connection = std::make_unique<EstablishedConnection>();
  connection->link = std::move(link_);
  connection->own_ring = std::move(ring_);
  connection->peer_ring = peer_ring_;
  connection->lanes = std::move(lanes_);
  connection->round_trips = round_trips;
  connection->small_message_bytes = static_cast<size_t>(facts_.settings->small_message_bytes);
  connection->smallest_stripe_bytes = static_cast<size_t>(facts_.settings->stripe_bytes);
  connection->agreement = std::move(*agreement_);
  connection->own_name = end_name(facts_);
  connection->peer_name = peer_name_;
  connection->peer_host = peer_host_;
  connection->peer_device = peer_device_;
  return connection;
}

Error Handshake::give_up(std::string_view stage, const Error& cause) {
  Error error{cause.code, fmt::format("no connection from {} to {}: while {}: {}", end_name(facts_),
                                      peer_name_, stage, cause.what)};
  if (link_.is_open() && !refused_by_peer_) {
    link_.queue(encode_refusal(cause.what));
    if (const auto flushed = link_.flush(); !flushed) {
      log_trace("the peer was not told: {}", flushed.error().what);
    }
  }
  return error;
}

}  // namespace rocelane::net
