#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace rocelane::collperf {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// Owns a socket.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

enum class FrameKind : uint32_t { kHello = 1, kContribution, kAnswer, kFailure };

struct Frame {
  FrameKind kind = FrameKind::kFailure;
  std::string body;
};

// How reading a frame ended, when it was not with a frame.
enum class NoFrame : uint8_t { kDeadline, kClosed, kNonsense };

// A frame, or why none came. Never an Error: the caller knows who the peer is and what was awaited.
using FrameOutcome = std::variant<Frame, NoFrame>;

FrameOutcome read_frame(const Socket& socket, Deadline deadline);
bool write_frame(const Socket& socket, const Frame& frame, Deadline deadline);
// Whether a read would find something: data or the end of the stream.
bool readable_now(const Socket& socket);
// False when the deadline passes before any of them is readable.
bool wait_until_readable(const std::vector<const Socket*>& sockets, Deadline deadline);

Result<Socket> listen_on(const std::string& host, uint16_t port);
// Nothing when the deadline passes first.
Socket accept_before(const Socket& listener, Deadline deadline);
// Keeps trying while nobody listens yet.
Result<Socket> connect_before(const std::string& host, uint16_t port, Deadline deadline);

}  // namespace rocelane::collperf
