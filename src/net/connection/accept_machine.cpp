#include "net/connection/accept_machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random.h"

namespace rocelane::net {
namespace {

constexpr std::chrono::seconds kStrangersPatience{3};
constexpr size_t kMostStrangers = 16;

}  // namespace

std::string_view describe(AcceptState state) {
  switch (state) {
    case AcceptState::kAwaitingGreeting:
      return "waiting for the peer to dial";
    case AcceptState::kAwaitingDescription:
      return "waiting for the peer's lanes";
    case AcceptState::kRaising:
      return "raising the lanes";
    case AcceptState::kAwaitingReady:
      return "waiting for the peer to raise its lanes";
    case AcceptState::kProbing:
      return "probing the lanes";
    case AcceptState::kReady:
      return "ready";
    case AcceptState::kOver:
      return "over";
  }
  return "";
}

void Strangers::drop(const Stranger& stranger, std::string_view why) {
  if (!said_) {
    said_ = true;
    log_warn(
        "{} dialed the set-up port of a connection and was dropped: {}; the connection is not "
        "affected (said once per connection)",
        to_text(stranger.address), why);
  }
}

std::optional<Strangers::Known> Strangers::listen_to_all(TimePoint now) {
  for (auto stranger = waiting_.begin(); stranger != waiting_.end();) {
    auto message = stranger->stream.receive();
    std::string_view why;
    if (!message) {
      why = message.error().what;
    } else if (message->has_value()) {
      const Message& greeting = **message;
      if (greeting.type == MessageType::kGreeting && proofs_equal(greeting.body, proof_)) {
        Known known{std::move(stranger->stream), stranger->address, greeting.version};
        waiting_.clear();
        return known;
      }
      why = "it does not know the connection's secret";
    } else if (now >= stranger->deadline) {
      why = "it did not greet in time";
    }
    if (why.empty()) {
      ++stranger;
    } else {
      drop(*stranger, why);
      stranger = waiting_.erase(stranger);
    }
  }
  return std::nullopt;
}

Result<std::optional<Strangers::Known>> Strangers::step(const TcpListener& listener,
                                                        TimePoint now) {
  // Bounded, so that a flood of dialers cannot keep NCCL's thread here.
  for (size_t taken_in = 0; taken_in < kMostStrangers; ++taken_in) {
    auto accepted = accept_from(listener);
    if (!accepted) {
      return std::move(accepted).error();
    }
    if (!accepted->has_value()) {
      break;
    }
    if (waiting_.size() == kMostStrangers) {
      if (auto known = listen_to_all(now); known.has_value()) {
        return known;
      }
    }
    if (waiting_.size() == kMostStrangers) {
      // The real peer greets at once; who has waited longest is the least likely to be it.
      drop(waiting_.front(), "too many dialers without a proof");
      waiting_.erase(waiting_.begin());
    }
    waiting_.push_back(
        {std::move((*accepted)->stream), (*accepted)->peer, now + kStrangersPatience});
  }
  return listen_to_all(now);
}

Result<std::unique_ptr<AcceptMachine>> AcceptMachine::create(EndFacts facts, ListenHandle* handle) {
  auto listener = listen_on(facts.set_up_address);
  if (!listener) {
    return std::move(listener).error();
  }
  handle->address = listener->address;
  handle->host = facts.host;
  handle->device = device_name(facts);
  handle->ports = static_cast<uint8_t>(facts.ports.size());
  for (Proof* proof : {&handle->dialer_proof, &handle->listener_proof}) {
    if (Status status = fill_random(*proof); !status) {
      return std::move(status).error();
    }
  }
  return std::unique_ptr<AcceptMachine>(
      new AcceptMachine(std::move(facts), std::move(*listener), *handle));
}

AcceptMachine::AcceptMachine(EndFacts facts, TcpListener listener, const ListenHandle& handle)
    : listener_(std::move(listener)),
      handle_(handle),
      strangers_(handle.dialer_proof),
      handshake_(std::move(facts), Role::kReceiver) {}

Result<std::unique_ptr<EstablishedConnection>> AcceptMachine::step(TimePoint now) {
  while (state_ != AcceptState::kReady) {
    if (state_ == AcceptState::kOver) {
      return Error{ErrorCode::kInvalidUsage, "this connection is already over", true};
    }
    const Result<bool> advanced = advance(now);
    if (!advanced) {
      Error error = handshake_.give_up(describe(state_), advanced.error());
      state_ = AcceptState::kOver;
      return error;
    }
    if (!*advanced) {
      return std::unique_ptr<EstablishedConnection>();
    }
  }
  state_ = AcceptState::kOver;
  return handshake_.finish();
}

void AcceptMachine::enter(AcceptState state, TimePoint deadline) {
  state_ = state;
  deadline_ = deadline;
}

Result<bool> AcceptMachine::advance(TimePoint now) {
  switch (state_) {
    case AcceptState::kAwaitingGreeting:
      return await_greeting(now);
    case AcceptState::kAwaitingDescription:
      return await_description(now);
    case AcceptState::kRaising:
      return raise(now);
    case AcceptState::kAwaitingReady:
      return await_ready(now);
    case AcceptState::kProbing: {
      auto finished = handshake_.probe(now, deadline_);
      if (finished && *finished) {
        enter(AcceptState::kReady, now);
      }
      return finished;
    }
    case AcceptState::kReady:
    case AcceptState::kOver:
      return false;
  }
  return false;
}

Result<bool> AcceptMachine::await_greeting(TimePoint now) {
  auto known = strangers_.step(listener_, now);
  if (!known) {
    return std::move(known).error();
  }
  if (!known->has_value()) {
    return false;
  }
  handshake_.link() = std::move((*known)->stream);
  handshake_.set_peer_name(to_text((*known)->address));
  if ((*known)->version != kProtocolVersion) {
    return Error{
        ErrorCode::kRemote,
        fmt::format("{} speaks protocol version {}, {} speaks version {}: install the same "
                    "Rocelane on every host",
                    to_text((*known)->address), (*known)->version, end_name(handshake_.facts()),
                    kProtocolVersion)};
  }
  if (Status status = handshake_.prepare(); !status) {
    return std::move(status).error();
  }
  handshake_.link().queue(encode_proof(MessageType::kWelcome, handle_.listener_proof));
  enter(AcceptState::kAwaitingDescription, now + kBusyPeer);
  return true;
}

Result<bool> AcceptMachine::await_description(TimePoint now) {
  auto message = handshake_.await(MessageType::kDescription, now, deadline_,
                                  "the peer greeted and then fell silent");
  if (!message) {
    return std::move(message).error();
  }
  if (!message->has_value()) {
    return false;
  }
  const auto peer = decode_description((*message)->body);
  if (!peer.has_value()) {
    return Error{ErrorCode::kRemote, "the peer's description makes no sense"};
  }
  const TimePoint deadline = now + stage_patience(*handshake_.facts().settings);
  if (Status status = handshake_.agree(*peer, deadline); !status) {
    return std::move(status).error();
  }
  enter(AcceptState::kRaising, deadline);
  return true;
}

Result<bool> AcceptMachine::raise(TimePoint now) {
  auto raised = handshake_.raise(now);
  if (raised && *raised) {
    handshake_.link().queue(handshake_.own_description());
    enter(AcceptState::kAwaitingReady, now + kBusyPeer);
  } else if (Status silence = handshake_.expect_silence(); raised && !silence) {
    return std::move(silence).error();
  }
  return raised;
}

Result<bool> AcceptMachine::await_ready(TimePoint now) {
  const auto message = handshake_.await(MessageType::kReady, now, deadline_,
                                        "the peer did not confirm its lanes in time");
  if (!message) {
    return message.error();
  }
  if (!message->has_value()) {
    return false;
  }
  handshake_.link().queue(encode_ready());
  if (const auto flushed = handshake_.link().flush(); !flushed) {
    return flushed.error();
  }
  if (Status status = handshake_.start_probe(now); !status) {
    return std::move(status).error();
  }
  enter(AcceptState::kProbing, now + stage_patience(*handshake_.facts().settings));
  return true;
}

}  // namespace rocelane::net
