#pragma once

// What the dialing and the listening machine have in common: describing their own end, agreeing,
// raising lanes, probing them, and telling the other end why it is over.

#include <memory>
#include <optional>
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

  // Reads the port afresh, builds the lanes and, for a sender, the ring it announces.
  Status prepare();
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
  Result<size_t> settle_lanes(const EndDescription& peer);

  EndFacts facts_;
  Role role_;
  std::string peer_name_;
  std::string peer_host_, peer_device_;
  PortFacts port_now_;  // read when the handshake began
  std::vector<GidEntry> gids_;
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
