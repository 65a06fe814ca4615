#include "net/connection/listen_handle.h"

#include <algorithm>

#include "net/connection/handshake_message.h"
#include "net/connection/wire.h"

namespace rocelane::net {
namespace {

struct WireHandle {
  uint32_t magic;
  uint16_t version;
  uint16_t port;
  Proof dialer_proof;
  Proof listener_proof;
  std::array<uint8_t, 16> address;
  uint32_t scope;
  uint8_t ipv6;
  uint8_t ports;
  std::array<uint8_t, 2> reserved;
  std::array<char, 32> host;
  std::array<char, 32> device;
};
static_assert(sizeof(WireHandle) == kListenHandleBytes, "NCCL carries exactly 128 bytes");
static_assert(offsetof(WireHandle, dialer_proof) == 8 && offsetof(WireHandle, address) == 40 &&
              offsetof(WireHandle, host) == 64);

}  // namespace

void encode_listen_handle(const ListenHandle& handle,
                          std::span<std::byte, kListenHandleBytes> out) {
  WireHandle wire{};
  wire.magic = kHandshakeMagic;
  wire.version = kProtocolVersion;
  wire.port = handle.address.port;
  wire.dialer_proof = handle.dialer_proof;
  wire.listener_proof = handle.listener_proof;
  wire.address = handle.address.address;
  wire.scope = handle.address.scope;
  wire.ipv6 = handle.address.ipv6 ? 1 : 0;
  wire.ports = handle.ports;
  write_text(wire.host, handle.host);
  write_text(wire.device, handle.device);
  write_struct(out, wire);
}

std::optional<ListenHandle> decode_listen_handle(
    std::span<const std::byte, kListenHandleBytes> in) {
  const auto wire = read_struct<WireHandle>(in);
  // The version is not judged here: the listener does that in the handshake, where both ends can
  // say so.
  if (wire.magic != kHandshakeMagic || wire.ipv6 > 1 || wire.port == 0) {
    return std::nullopt;
  }
  ListenHandle handle;
  handle.dialer_proof = wire.dialer_proof;
  handle.listener_proof = wire.listener_proof;
  handle.address.ipv6 = wire.ipv6 == 1;
  handle.address.address = wire.address;
  handle.address.scope = wire.scope;
  handle.address.port = wire.port;
  handle.ports = static_cast<uint8_t>(std::clamp<size_t>(wire.ports, 1, kMostRails));
  handle.host = read_text(wire.host);
  handle.device = read_text(wire.device);
  return handle;
}

}  // namespace rocelane::net
