#include "net/connection/handshake.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "net/connection/clear_to_send.h"
#include "net/device/gid.h"
#include "net/device/path_mtu.h"
#include "net/device/traffic_class.h"

namespace rocelane::net {
Status Handshake::prepare() {
  auto port_now = facts_.port->read_facts();
  if (!port_now) {
    return std::move(port_now).error();
  }
  port_now_ = std::move(*port_now);
  if (!port_now_.active) {
    return Error{ErrorCode::kSystem, "the link of this port is down"};
  }
  const GidWishes wishes = gid_wishes(*facts_.settings);
  gids_ = rank_gids(port_now_, wishes);
  if (gids_.empty()) {
    return Error{ErrorCode::kInvalidArgument, why_no_gid(port_now_, wishes)};
  }
  if (gids_.size() > kMaxOfferedGids) {
    gids_.resize(kMaxOfferedGids);
  }
  auto lanes = LaneSet::create(facts_.port, *facts_.completions, role_, facts_.settings->lanes,
                               facts_.entropy);
  if (!lanes) {
    return std::move(lanes).error();
  }
  lanes_ = std::move(*lanes);
  probe_.emplace(lanes_);
  if (role_ == Role::kSender && facts_.settings->small_message_traffic_class.has_value()) {
    if (Status status = lanes_->add_small_message_lane(); !status) {
      return status;
    }
  }
  if (role_ == Role::kSender) {
    auto ring = RegisteredBuffer::create(facts_.port, kClearToSendRingBytes);
    if (!ring) {
      return std::move(ring).error();
    }
    ring_.emplace(std::move(*ring));
  }
  return {};
}

std::vector<std::byte> Handshake::own_description() const {
  const PortFacts& port = port_now_;
  EndDescription own;
  own.host = facts_.host;
  own.device = port.device_name;
  own.process_id = facts_.process_id;
  own.port = static_cast<uint8_t>(port.port);
  own.mtu = static_cast<uint8_t>(
      mtu_code_of_bytes(
          std::min(port.active_mtu_bytes, facts_.settings->mtu_bytes.value_or(kLargestMtuBytes)))
          .value_or(1));
  if (agreement_.has_value()) {
    own.gids.push_back({agreement_->local_gid.gid, agreement_->local_gid.type});
    own.peer_gid_choice = agreement_->peer_gid_choice;
  } else {
    std::transform(gids_.begin(), gids_.end(), std::back_inserter(own.gids),
                   [](const GidEntry& entry) {
                     return OfferedGid{entry.gid, entry.type};
                   });
  }
  const TrafficClassOffer offer = offer_of(facts_.traffic_classes);
  own.data_traffic_class = offer.data;
  own.control_traffic_class = offer.control;
  own.data_class_explicit = offer.data_is_explicit;
  own.control_class_explicit = offer.control_is_explicit;
  own.max_message_bytes = port.max_message_bytes;
  if (ring_.has_value()) {
    own.clear_to_send_address = ring_->address();
    own.clear_to_send_key = ring_->remote_key();
  }
  own.control_lane = {lanes_->control().pair.number(), lanes_->control().packet_sequence};
  if (lanes_->has_small_message_lane()) {
    own.small_message_class =
        agreement_.has_value()
            ? agreement_->paths.small_message_class
            : static_cast<uint8_t>(facts_.settings->small_message_traffic_class.value_or(0));
  }
  for (const Lane& lane : lanes_->data()) {
    own.data_lanes.push_back({lane.pair.number(), lane.packet_sequence});
  }
  return encode_description(own);
}

Status Handshake::agree(const EndDescription& peer, TimePoint deadline) {
  peer_name_ =
      fmt::format("{} (process {})", end_name(peer.device, peer.port, peer.host), peer.process_id);
  peer_host_ = peer.host;
  peer_device_ = peer.device;
  auto agreement = role_ == Role::kSender ? agree_as_dialer(facts_, port_now_, gids_, peer)
                                          : agree_as_listener(facts_, port_now_, gids_, peer);
  if (!agreement) {
    return std::move(agreement).error();
  }
  const Result<size_t> lanes = settle_lanes(peer);
  if (!lanes) {
    return lanes.error();
  }
  agreement->data_lanes = *lanes;
  agreement_ = std::move(*agreement);
  LanePaths& paths = agreement_->paths;
  paths.data_peers.resize(*lanes);
  if (lanes_->has_small_message_lane()) {
    paths.data_peers.push_back(peer.data_lanes.back());
    paths.small_message_class = *peer.small_message_class;
  }
  peer_ring_ = {peer.clear_to_send_address, peer.clear_to_send_key};
  bring_up_.emplace(lanes_, agreement_->paths, facts_.run_elsewhere, deadline);
  return {};
}

// The listener keeps what both have; the dialer then sees the smaller number in the answer. How
// many lanes there are for all messages.
Result<size_t> Handshake::settle_lanes(const EndDescription& peer) {
  if (role_ == Role::kReceiver && peer.small_message_class.has_value()) {
    if (Status status = lanes_->add_small_message_lane(); !status) {
      return std::move(status).error();
    }
  }
  const size_t theirs = peer.data_lanes.size() - (peer.small_message_class.has_value() ? 1 : 0);
  const size_t lanes = std::min(lanes_->large_lane_count(), theirs);
  const bool answer_fits =
      lanes == theirs && peer.small_message_class.has_value() == lanes_->has_small_message_lane();
  if (role_ == Role::kSender && !answer_fits) {
    return Error{ErrorCode::kRemote,
                 fmt::format("{} answered with {} data lanes where {} were offered; the two ends "
                             "run versions that do not fit",
                             peer_name_, peer.data_lanes.size(), lanes_->data().size())};
  }
  lanes_->keep_large_lanes(lanes);
  return lanes;
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
    return Error{ErrorCode::kRemote,
                 fmt::format("packets do not cross between {} and {}: {}; check cabling, VLAN, "
                             "routes and that the fabric carries traffic classes {} and {}",
                             describe(agreement_->local_gid), gid_text(agreement_->peer_gid.gid),
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
