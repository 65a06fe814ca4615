#include "net/connection/tcp_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace rocelane::net {
namespace {

constexpr int kBacklog = 64;

Error socket_error(std::string_view what, int error_number) {
  const char* text = strerrordesc_np(error_number);
  return Error{ErrorCode::kSystem,
               fmt::format("{}: {}", what, text != nullptr ? text : "unknown error")};
}

bool would_block(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

// Small messages go at once, and a peer whose host died is noticed within seconds although it never
// said so.
void tune(const FileDescriptor& socket) {
  const auto set = [&socket](int level, int option, int value) {
    setsockopt(socket.get(), level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 2);   // seconds
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);  // seconds
  set(IPPROTO_TCP, TCP_KEEPCNT, 5);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 7000);  // milliseconds
}

FileDescriptor open_socket(bool ipv6) {
  FileDescriptor socket(
      ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.is_open()) {
    tune(socket);
  }
  return socket;
}

const sockaddr* as_sockaddr(const NativeSocketAddress& native) {
  return reinterpret_cast<const sockaddr*>(&native.storage);
}

}  // namespace

Result<TcpStream> TcpStream::dial(const SocketAddress& target,
                                  const std::optional<SocketAddress>& source) {
  FileDescriptor socket = open_socket(target.ipv6);
  if (!socket.is_open()) {
    return socket_error("no socket can be opened", errno);
  }
  if (source.has_value() && source->ipv6 == target.ipv6) {
    SocketAddress any_port = *source;
    any_port.port = 0;
    const NativeSocketAddress native = to_native(any_port);
    if (bind(socket.get(), as_sockaddr(native), native.length) != 0) {
      return socket_error(fmt::format("cannot dial from {}", to_text(any_port)), errno);
    }
  }
  SocketAddress reachable = target;
  if (target.ipv6 && source.has_value() && is_link_local(target)) {
    reachable.scope = source->scope;  // the listener's interface number means nothing here
  }
  const NativeSocketAddress native = to_native(reachable);
  if (connect(socket.get(), as_sockaddr(native), native.length) != 0 && errno != EINPROGRESS) {
    return socket_error(fmt::format("cannot dial {}", to_text(target)), errno);
  }
  return TcpStream(std::move(socket));
}

Result<bool> TcpStream::is_connected() {
  pollfd poll_entry{socket_.get(), POLLOUT, 0};
  if (poll(&poll_entry, 1, 0) <= 0) {
    return false;
  }
  int error_number = 0;
  socklen_t length = sizeof(error_number);
  getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_number, &length);
  if (error_number != 0) {
    return socket_error("the TCP connection was not accepted", error_number);
  }
  return true;
}

void TcpStream::queue(std::vector<std::byte> message) {
  outgoing_.insert(outgoing_.end(), message.begin(), message.end());
}

Result<bool> TcpStream::flush() {
  while (sent_ < outgoing_.size()) {
    const ssize_t sent = send(socket_.get(), outgoing_.data() + sent_, outgoing_.size() - sent_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (would_block(errno)) {
        return false;
      }
      return Error{ErrorCode::kRemote,
                   socket_error("the peer closed the set-up connection", errno).what};
    }
    sent_ += static_cast<size_t>(sent);
  }
  outgoing_.clear();
  sent_ = 0;
  return true;
}

Status TcpStream::fill(size_t wanted) {
  while (incoming_.size() < wanted) {
    const size_t have = incoming_.size();
    incoming_.resize(wanted);
    const ssize_t got = recv(socket_.get(), incoming_.data() + have, wanted - have, MSG_DONTWAIT);
    const int error_number = errno;
    incoming_.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) {
      return Error{ErrorCode::kRemote, "the peer closed the set-up connection"};
    }
    if (got < 0) {
      if (would_block(error_number)) {
        return {};
      }
      return Error{ErrorCode::kRemote,
                   socket_error("the set-up connection broke", error_number).what};
    }
  }
  return {};
}

Result<std::optional<Message>> TcpStream::receive() {
  if (Status status = fill(kMessageHeaderBytes); !status) {
    return std::move(status).error();
  }
  if (incoming_.size() < kMessageHeaderBytes) {
    return std::optional<Message>();
  }
  const std::span<const std::byte> bytes(incoming_);
  const auto header = decode_header(bytes.first<kMessageHeaderBytes>());
  if (!header.has_value()) {
    return Error{ErrorCode::kRemote, "the peer does not speak Rocelane's handshake"};
  }
  const auto type = static_cast<MessageType>(header->type);
  const auto expected = body_bytes_of(type);
  if (!expected.has_value() || header->body_bytes != *expected) {
    return Error{ErrorCode::kRemote,
                 fmt::format("the peer sent message type {} with {} bytes in protocol version {}, "
                             "which this version ({}) does not know",
                             header->type, header->body_bytes, header->version, kProtocolVersion)};
  }
  const size_t whole = kMessageHeaderBytes + *expected;
  if (Status status = fill(whole); !status) {
    return std::move(status).error();
  }
  if (incoming_.size() < whole) {
    return std::optional<Message>();
  }
  Message message;
  message.version = header->version;
  message.type = type;
  message.body.assign(incoming_.begin() + kMessageHeaderBytes, incoming_.end());
  incoming_.clear();
  return std::optional<Message>(std::move(message));
}

bool TcpStream::peer_is_gone() {
  std::byte ignored{};
  const ssize_t got = recv(socket_.get(), &ignored, 1, MSG_DONTWAIT | MSG_PEEK);
  return got == 0 || (got < 0 && !would_block(errno));
}

Result<TcpListener> listen_on(const SocketAddress& address) {
  FileDescriptor socket = open_socket(address.ipv6);
  if (!socket.is_open()) {
    return socket_error("no socket can be opened", errno);
  }
  const NativeSocketAddress native = to_native(address);
  if (bind(socket.get(), as_sockaddr(native), native.length) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return socket_error(fmt::format("cannot listen on {}", to_text(address)), errno);
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return socket_error("a listening socket has no name", errno);
  }
  return TcpListener{std::move(socket), from_native(bound)};
}

Result<std::optional<Accepted>> accept_from(const TcpListener& listener) {
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  FileDescriptor socket(accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.is_open()) {
    // Linux reports here what went wrong with a client that waited: its trouble, not ours. What
    // concerns us lasts and has another name.
    if (errno == EMFILE || errno == ENFILE) {
      return socket_error(
          "a connection cannot be accepted; raise the limit of open files (ulimit -n)", errno);
    }
    if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK || errno == EOPNOTSUPP) {
      return socket_error("a connection cannot be accepted", errno);
    }
    return std::optional<Accepted>();
  }
  tune(socket);
  return std::optional<Accepted>(Accepted{TcpStream(std::move(socket)), from_native(peer)});
}

}  // namespace rocelane::net
