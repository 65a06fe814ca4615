#include "collperf/tcp_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocelane::collperf {
namespace {

// A rendezvous carries names, identifiers and numbers; anything larger is a stranger.
constexpr uint32_t kLargestBodyBytes = 16U << 20;
constexpr auto kConnectPause = std::chrono::milliseconds(50);

enum class IoOutcome : uint8_t { kDone, kDeadline, kClosed };

bool wait_for_any(std::vector<pollfd>& watched, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) {
      return false;
    }
    const int timeout_ms = static_cast<int>(std::min<long long>(left + 1, 1000));
    const int ready = poll(watched.data(), watched.size(), timeout_ms);
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return true;  // the read or write that follows reports it
    }
  }
}

bool wait_for(int fd, short events, Deadline deadline) {
  std::vector<pollfd> watched{{fd, events, 0}};
  return wait_for_any(watched, deadline);
}

IoOutcome read_bytes(int fd, char* into, size_t bytes, Deadline deadline) {
  while (bytes > 0) {
    if (!wait_for(fd, POLLIN, deadline)) {
      return IoOutcome::kDeadline;
    }
    const ssize_t got = recv(fd, into, bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      return IoOutcome::kClosed;
    }
    if (got > 0) {
      into += got;
      bytes -= static_cast<size_t>(got);
    }
  }
  return IoOutcome::kDone;
}

IoOutcome write_bytes(int fd, const char* from, size_t bytes, Deadline deadline) {
  while (bytes > 0) {
    if (!wait_for(fd, POLLOUT, deadline)) {
      return IoOutcome::kDeadline;
    }
    const ssize_t put = send(fd, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) {
      return IoOutcome::kClosed;
    }
    if (put > 0) {
      from += put;
      bytes -= static_cast<size_t>(put);
    }
  }
  return IoOutcome::kDone;
}

struct AddressListDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

Result<AddressList> resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &list);
  if (error != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("MASTER_ADDR '{}' is no address and no known host name: {}.", host,
                             gai_strerror(error))};
  }
  return AddressList(list);
}

void send_small_frames_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

FrameOutcome read_frame(const Socket& socket, Deadline deadline) {
  std::array<uint32_t, 2> header{};
  std::array<char, sizeof header> header_bytes{};
  const auto as_reason = [](IoOutcome outcome) {
    return outcome == IoOutcome::kDeadline ? NoFrame::kDeadline : NoFrame::kClosed;
  };
  if (const IoOutcome outcome =
          read_bytes(socket.fd(), header_bytes.data(), header_bytes.size(), deadline);
      outcome != IoOutcome::kDone) {
    return as_reason(outcome);
  }
  std::memcpy(header.data(), header_bytes.data(), sizeof header);
  const auto [kind, body_bytes] = header;
  if (kind < static_cast<uint32_t>(FrameKind::kHello) ||
      kind > static_cast<uint32_t>(FrameKind::kFailure) || body_bytes > kLargestBodyBytes) {
    return NoFrame::kNonsense;
  }
  Frame frame{static_cast<FrameKind>(kind), std::string(body_bytes, '\0')};
  if (const IoOutcome outcome =
          read_bytes(socket.fd(), frame.body.data(), frame.body.size(), deadline);
      outcome != IoOutcome::kDone) {
    return as_reason(outcome);
  }
  return frame;
}

bool write_frame(const Socket& socket, const Frame& frame, Deadline deadline) {
  const std::array<uint32_t, 2> header{static_cast<uint32_t>(frame.kind),
                                       static_cast<uint32_t>(frame.body.size())};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), header.data(), sizeof header);
  bytes += frame.body;
  return write_bytes(socket.fd(), bytes.data(), bytes.size(), deadline) == IoOutcome::kDone;
}

bool readable_now(const Socket& socket) {
  pollfd watched{socket.fd(), POLLIN, 0};
  return poll(&watched, 1, 0) > 0;
}

bool wait_until_readable(const std::vector<const Socket*>& sockets, Deadline deadline) {
  std::vector<pollfd> watched;
  for (const Socket* socket : sockets) {
    watched.push_back({socket->fd(), POLLIN, 0});
  }
  return wait_for_any(watched, deadline);
}

Result<Socket> listen_on(const std::string& host, uint16_t port) {
  Result<AddressList> addresses = resolve(host, port);
  if (!addresses) {
    return addresses.error();
  }
  int last_error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    Socket listener(socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    const int on = 1;
    setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener.open() && bind(listener.fd(), at->ai_addr, at->ai_addrlen) == 0 &&
        listen(listener.fd(), SOMAXCONN) == 0) {
      return listener;
    }
    last_error = errno;
  }
  return Error{
      ErrorCode::kSystem,
      fmt::format("Rank 0 cannot listen on MASTER_ADDR:MASTER_PORT {}:{} ({}). MASTER_ADDR "
                  "must be an address of rank 0's host and MASTER_PORT a free port.",
                  host, port, std::strerror(last_error))};
}

Socket accept_before(const Socket& listener, Deadline deadline) {
  if (!wait_for(listener.fd(), POLLIN, deadline)) {
    return {};
  }
  Socket peer(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.open()) {
    send_small_frames_at_once(peer.fd());
  }
  return peer;
}

Result<Socket> connect_before(const std::string& host, uint16_t port, Deadline deadline) {
  Result<AddressList> addresses = resolve(host, port);
  if (!addresses) {
    return addresses.error();
  }
  int last_error = 0;
  do {
    for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
      Socket peer(
          socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
      int error = 0;
      if (connect(peer.fd(), at->ai_addr, at->ai_addrlen) != 0) {
        error = errno;
      }
      if (error == EINPROGRESS) {
        socklen_t length = sizeof error;
        error = ETIMEDOUT;
        if (wait_for(peer.fd(), POLLOUT, deadline)) {
          getsockopt(peer.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
        }
      }
      if (peer.open() && error == 0) {
        send_small_frames_at_once(peer.fd());
        return peer;
      }
      last_error = error;
    }
    std::this_thread::sleep_for(kConnectPause);
  } while (Clock::now() < deadline);
  return Error{
      ErrorCode::kRemote,
      fmt::format("cannot reach rank 0 at MASTER_ADDR:MASTER_PORT {}:{} ({}). Is rank 0 "
                  "running, and does every rank have the same MASTER_ADDR and MASTER_PORT?",
                  host, port, std::strerror(last_error))};
}

}  // namespace rocelane::collperf
