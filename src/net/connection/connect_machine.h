#pragma once

// The dialing end of a handshake; it will send messages.

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/connection/end_facts.h"
#include "net/connection/handshake.h"
#include "net/connection/listen_handle.h"

namespace rocelane::net {

enum class ConnectState : uint8_t {
  kDialing,     // TCP connect is in progress.
  kGreeting,    // Our proof is on its way; the listener answers with its own, or hangs up.
  kDescribing,  // The listener builds and raises its lanes; without its numbers ours cannot be
                // raised.
  kRaising,     // Our lanes go to RTS on another thread.
  kConfirming,  // The listener must know that our lanes are up before it sends on them.
  kProbing,     // An empty message crosses every lane both ways.
  kReady,       // Both ends may post.
  kOver,        // Terminal: the connection was handed over, or its error was returned.
};

class ConnectMachine {
 public:
  ConnectMachine(EndFacts facts, const ListenHandle& target);

  // nullptr: not finished; call again. Never blocks. An error is final.
  Result<std::unique_ptr<EstablishedConnection>> step(TimePoint now);

 private:
  Result<bool> advance(TimePoint now);
  Result<bool> dial(TimePoint now);
  Result<bool> await_welcome(TimePoint now);
  Result<bool> await_description(TimePoint now);
  Result<bool> raise(TimePoint now);
  Result<bool> confirm(TimePoint now);
  void enter(ConnectState state, TimePoint deadline);

  Handshake handshake_;
  ListenHandle target_;
  ConnectState state_ = ConnectState::kDialing;
  TimePoint deadline_;  // of the current state
};

std::string_view describe(ConnectState state);

}  // namespace rocelane::net
