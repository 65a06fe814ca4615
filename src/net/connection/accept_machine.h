#pragma once

// The listening end of a handshake; it will receive messages. Anybody can reach its TCP port, so
// who dials is a stranger until it has shown the proof that travelled in NCCL's handle.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/handshake.h"
#include "net/connection/listen_handle.h"
#include "net/connection/tcp_stream.h"

namespace rocelane::net {

enum class AcceptState : uint8_t {
  kAwaitingGreeting,     // Nobody has shown the proof yet. There is no deadline: NCCL may dial much
                         // later.
  kAwaitingDescription,  // The peer is known; its candidates and lanes are on their way.
  kRaising,              // Our lanes go to RTS on another thread; the peer waits for our numbers.
  kAwaitingReady,        // The peer raises its lanes.
  kProbing,              // An empty message crosses every lane both ways.
  kReady,                // Both ends may post.
  kOver,                 // Terminal: the connection was handed over, or its error was returned.
};

// Dialers that have not shown the proof. Bounded in number, time and bytes read.
class Strangers {
 public:
  explicit Strangers(const Proof& proof) : proof_(proof) {}

  struct Known {
    TcpStream stream;
    SocketAddress address;
    uint16_t version = 0;
  };
  // Takes in whoever waits at `listener`, reads what they sent and drops the ones that do not know
  // the proof.
  Result<std::optional<Known>> step(const TcpListener& listener, TimePoint now);

 private:
  std::optional<Known> listen_to_all(TimePoint now);

  struct Stranger {
    TcpStream stream;
    SocketAddress address;
    TimePoint deadline;
  };
  void drop(const Stranger& stranger, std::string_view why);

  Proof proof_;
  std::vector<Stranger> waiting_;
  bool said_ = false;
};

class AcceptMachine {
 public:
  // Starts to listen. `handle` is what the peer needs.
  static Result<std::unique_ptr<AcceptMachine>> create(EndFacts facts, ListenHandle* handle);

  // nullptr: not finished; call again. Never blocks. An error is final.
  Result<std::unique_ptr<EstablishedConnection>> step(TimePoint now);

 private:
  AcceptMachine(EndFacts facts, TcpListener listener, const ListenHandle& handle);

  Result<bool> advance(TimePoint now);
  Result<bool> await_greeting(TimePoint now);
  Result<bool> await_description(TimePoint now);
  Result<bool> raise(TimePoint now);
  Result<bool> await_ready(TimePoint now);
  void enter(AcceptState state, TimePoint deadline);

  TcpListener listener_;
  ListenHandle handle_;
  Strangers strangers_;
  Handshake handshake_;
  AcceptState state_ = AcceptState::kAwaitingGreeting;
  TimePoint deadline_;  // of the current state
};

std::string_view describe(AcceptState state);

}  // namespace rocelane::net
