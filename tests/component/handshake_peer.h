#pragma once

// A peer that speaks the handshake by hand, so that it can stop, lie or vanish at any step.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "net/connection/handshake_message.h"
#include "net/connection/listen_handle.h"
#include "net/connection/tcp_stream.h"

namespace rocelane::test {

class HandshakePeer {
 public:
  // Dials the listener whose handle this is.
  explicit HandshakePeer(std::span<const std::byte, net::kListenHandleBytes> handle);

  void send(std::vector<std::byte> message);
  // Calls `step` meanwhile, as NCCL would call accept; nullopt when nothing came in time.
  std::optional<net::Message> receive(const std::function<void()>& step);
  void hang_up() { stream_ = net::TcpStream(); }

  const net::ListenHandle& handle() const { return handle_; }
  // A description that passes every check; `gid` is where its lanes claim to be.
  static net::EndDescription plausible_description(const net::Gid& gid);

 private:
  net::ListenHandle handle_;
  net::TcpStream stream_;
};

}  // namespace rocelane::test
