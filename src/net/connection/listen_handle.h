#pragma once

// What NCCL carries from the listening rank to the connecting one. Layout in docs/protocol.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/connection/socket_address.h"

namespace rocelane::net {

inline constexpr size_t kListenHandleBytes = 128;

// Both halves come from the kernel's random generator, per listener. The dialer proves itself with
// the first, the listener with the second; neither sends anything of worth before.
using Proof = std::array<std::byte, 16>;

struct ListenHandle {
  Proof dialer_proof{};
  Proof listener_proof{};
  SocketAddress address;
  uint8_t ports = 1;   // of the listener, 1 to kMostRails: a hint how many lanes are of use
  std::string host;    // for sentences only
  std::string device;  // for sentences only
};

void encode_listen_handle(const ListenHandle& handle, std::span<std::byte, kListenHandleBytes> out);

// nullopt: not a handle of ours, or of a protocol version we do not speak.
std::optional<ListenHandle> decode_listen_handle(std::span<const std::byte, kListenHandleBytes> in);

}  // namespace rocelane::net
