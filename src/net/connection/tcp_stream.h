#pragma once

// One non-blocking TCP connection that carries handshake messages. Every call returns at once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/connection/handshake_message.h"
#include "net/connection/socket_address.h"

namespace rocelane::net {

struct Message {
  uint16_t version = 0;  // the sender's; only kGreeting and kRefusal may differ from ours
  MessageType type = MessageType::kGreeting;
  std::vector<std::byte> body;
};

class TcpStream {
 public:
  TcpStream() = default;
  explicit TcpStream(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Starts to connect from `source` (its port is ignored), or from wherever the kernel likes.
  static Result<TcpStream> dial(const SocketAddress& target,
                                const std::optional<SocketAddress>& source);

  // True once connected. Error: the peer refused or cannot be reached.
  Result<bool> is_connected();

  // Queues a message; `flush` sends what the socket takes. True: nothing is left to send.
  void queue(std::vector<std::byte> message);
  Result<bool> flush();

  // The next whole message, or nullopt when it has not arrived yet. Reads no byte beyond it and at
  // most kMaxBodyBytes of body. Error: the peer closed, or sent what is no message of ours.
  Result<std::optional<Message>> receive();

  // True when the peer has closed or reset the connection.
  bool peer_is_gone();

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.get(); }

 private:
  Status fill(size_t wanted);

  FileDescriptor socket_;
  std::vector<std::byte> outgoing_;
  size_t sent_ = 0;
  std::vector<std::byte> incoming_;
};

// A listening socket on `address`, port chosen by the kernel.
struct TcpListener {
  FileDescriptor socket;
  SocketAddress address;
};
Result<TcpListener> listen_on(const SocketAddress& address);

// The next waiting connection, or nullopt when there is none.
struct Accepted {
  TcpStream stream;
  SocketAddress peer;
};
Result<std::optional<Accepted>> accept_from(const TcpListener& listener);

}  // namespace rocelane::net
