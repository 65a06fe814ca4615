#include "net/connection/connect_machine.h"

#include <fmt/format.h>

namespace rocelane::net {
std::string_view describe(ConnectState state) {
  switch (state) {
    case ConnectState::kDialing:
      return "dialing";
    case ConnectState::kGreeting:
      return "waiting for the listener's greeting";
    case ConnectState::kDescribing:
      return "waiting for the listener's lanes";
    case ConnectState::kRaising:
      return "raising the lanes";
    case ConnectState::kConfirming:
      return "confirming the lanes";
    case ConnectState::kProbing:
      return "probing the lanes";
    case ConnectState::kReady:
      return "ready";
    case ConnectState::kOver:
      return "over";
  }
  return "";
}

ConnectMachine::ConnectMachine(EndFacts facts, const ListenHandle& target)
    : handshake_(std::move(facts), Role::kSender), target_(target) {
  handshake_.set_peer_name(
      fmt::format("{} on {} ({})", target.device, target.host, to_text(target.address)));
}

Result<std::unique_ptr<EstablishedConnection>> ConnectMachine::step(TimePoint now) {
  while (state_ != ConnectState::kReady) {
    if (state_ == ConnectState::kOver) {
      return Error{ErrorCode::kInvalidUsage, "this connection is already over", true};
    }
    const Result<bool> advanced = advance(now);
    if (!advanced) {
      Error error = handshake_.give_up(describe(state_), advanced.error());
      state_ = ConnectState::kOver;
      return error;
    }
    if (!*advanced) {
      return std::unique_ptr<EstablishedConnection>();
    }
  }
  state_ = ConnectState::kOver;
  return handshake_.finish();
}

void ConnectMachine::enter(ConnectState state, TimePoint deadline) {
  state_ = state;
  deadline_ = deadline;
}

Result<bool> ConnectMachine::advance(TimePoint now) {
  switch (state_) {
    case ConnectState::kDialing:
      return dial(now);
    case ConnectState::kGreeting:
      return await_welcome(now);
    case ConnectState::kDescribing:
      return await_description(now);
    case ConnectState::kRaising:
      return raise(now);
    case ConnectState::kConfirming:
      return confirm(now);
    case ConnectState::kProbing: {
      auto finished = handshake_.probe(now, deadline_);
      if (finished && *finished) {
        enter(ConnectState::kReady, now);
      }
      return finished;
    }
    case ConnectState::kReady:
    case ConnectState::kOver:
      return false;
  }
  return false;
}

Result<bool> ConnectMachine::dial(TimePoint now) {
  const auto patience = stage_patience(*handshake_.facts().settings);
  if (!handshake_.link().is_open()) {
    auto stream = TcpStream::dial(target_.address, handshake_.facts().set_up_address);
    if (!stream) {
      return std::move(stream).error();
    }
    handshake_.link() = std::move(*stream);
    deadline_ = now + patience;
  }
  const auto connected = handshake_.link().is_connected();
  if (!connected) {
    return connected.error();
  }
  if (!*connected) {
    if (now >= deadline_) {
      return Error{ErrorCode::kRemote,
                   "the listener's TCP port did not answer; a slow network is given more with "
                   "ROCELANE_CONNECT_TIMEOUT_MS"};
    }
    return false;
  }
  handshake_.link().queue(encode_proof(MessageType::kGreeting, target_.dialer_proof));
  enter(ConnectState::kGreeting, now + kBusyPeer);
  return true;
}

Result<bool> ConnectMachine::await_welcome(TimePoint now) {
  auto message = handshake_.await(MessageType::kWelcome, now, deadline_,
                                  "the listener did not greet back in time");
  if (!message) {
    return message.error();
  }
  if (!message->has_value()) {
    return false;
  }
  if (!proofs_equal((*message)->body, target_.listener_proof)) {
    return Error{ErrorCode::kRemote,
                 "whoever answers at this address does not know the connection's secret"};
  }
  if (Status status = handshake_.prepare(); !status) {
    return std::move(status).error();
  }
  if (Status status = handshake_.offer_lanes(target_.ports); !status) {
    return std::move(status).error();
  }
  handshake_.link().queue(handshake_.own_description());
  enter(ConnectState::kDescribing, now + kBusyPeer);
  return true;
}

Result<bool> ConnectMachine::await_description(TimePoint now) {
  auto message = handshake_.await(MessageType::kDescription, now, deadline_,
                                  "the listener's lanes did not come up in time");
  if (!message) {
    return message.error();
  }
  if (!message->has_value()) {
    return false;
  }
  const auto peer = decode_description((*message)->body);
  if (!peer.has_value()) {
    return Error{ErrorCode::kRemote, "the listener's description makes no sense"};
  }
  const TimePoint deadline = now + stage_patience(*handshake_.facts().settings);
  if (Status status = handshake_.agree(*peer, deadline); !status) {
    return std::move(status).error();
  }
  enter(ConnectState::kRaising, deadline);
  return true;
}

Result<bool> ConnectMachine::raise(TimePoint now) {
  auto raised = handshake_.raise(now);
  if (raised && *raised) {
    handshake_.link().queue(encode_ready());
    if (Status status = handshake_.start_probe(now); !status) {
      return std::move(status).error();
    }
    enter(ConnectState::kConfirming, now + kBusyPeer);
  } else if (Status silence = handshake_.expect_silence(); raised && !silence) {
    return std::move(silence).error();
  }
  return raised;
}

Result<bool> ConnectMachine::confirm(TimePoint now) {
  const auto message =
      handshake_.await(MessageType::kReady, now, deadline_, "the listener did not confirm in time");
  if (!message) {
    return message.error();
  }
  if (!message->has_value()) {
    return false;
  }
  enter(ConnectState::kProbing, now + stage_patience(*handshake_.facts().settings));
  return true;
}

}  // namespace rocelane::net
