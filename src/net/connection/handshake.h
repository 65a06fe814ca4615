#pragma once

// What the dialing and the listening machine have in common: describing their own end, agreeing,
// raising lanes, probing them, and telling the other end why it is over.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/established_connection.h"
#include "net/connection/handshake_message.h"
#include "net/connection/lane_bring_up.h"
#include "net/connection/lane_probe.h"
#include "net/connection/lane_set.h"
#include "net/connection/negotiation.h"
#include "net/connection/tcp_stream.h"

namespace rocelane::net {

class Handshake {
 public:
  Handshake(EndFacts facts, Role role) : facts_(std::move(facts)), role_(role) {}

  const EndFacts& facts() const { return facts_; }
  TcpStream& link() { return link_; }
  const std::string& peer_name() const { return peer_name_; }
  void set_peer_name(std::string name) { peer_name_ = std::move(name); }

  // Reads the ports afresh. Of several those that cannot be used now are left out.
  Status prepare();
  // Dialer, after that: builds the lanes and the ring it announces. `peer_ports`: the listener has.
  Status offer_lanes(size_t peer_ports);
  std::vector<std::byte> own_description() const;

  // Takes the peer's description; on success the lanes are on their way up until `deadline`.
  Status agree(const EndDescription& peer, TimePoint deadline);
  Result<bool> raise(TimePoint now);
  Status start_probe(TimePoint now);
  Result<bool> probe(TimePoint now, TimePoint deadline);

  // Sends what is queued and takes the peer's next message, which must be of type `expected`;
  // nullopt when it has not come. A Refusal is the peer's error. After `deadline` the error is
  // `silence`.
  Result<std::optional<Message>> await(MessageType expected, TimePoint now, TimePoint deadline,
                                       std::string_view silence);

  // An error when the peer said anything, which here can only be why it gave up, or when it is
  // gone.
  Status expect_silence();

  std::unique_ptr<EstablishedConnection> finish();

  // The whole sentence for an error of stage `stage`; the peer hears it too, as far as the socket
  // takes it.
  Error give_up(std::string_view stage, const Error& cause);

 private:
  Status check(const Message& message, MessageType expected);
  Result<LivePort> read_port(const std::shared_ptr<const Port>& port) const;
  std::vector<int> speeds() const;
  Status build_lanes(std::span<const uint8_t> rails);
  Status take_offer(const EndDescription& peer);
  Status take_answer(const EndDescription& peer);

  EndFacts facts_;
  Role role_;
  std::string peer_name_;
  std::string peer_host_, peer_device_;
  std::vector<LivePort> ports_;  // by rail; read when the handshake began
  TcpStream link_;
  std::optional<RegisteredBuffer> ring_;
  RemoteRing peer_ring_;
  std::shared_ptr<LaneSet> lanes_;
  std::optional<Agreement> agreement_;
  std::optional<LaneBringUp> bring_up_;
  std::optional<LaneProbe> probe_;
  bool refused_by_peer_ = false;
};

}  // namespace rocelane::net
