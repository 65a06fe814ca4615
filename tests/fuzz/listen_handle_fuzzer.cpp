// The 128 bytes that NCCL carries from a listener to whoever connects.

#include "fuzzer.h"
#include "net/connection/handshake_message.h"
#include "net/connection/listen_handle.h"

namespace rocelane::fuzz {
namespace {

using net::kListenHandleBytes;
using net::ListenHandle;

using Bytes = std::array<std::byte, kListenHandleBytes>;

Bytes encoded(const ListenHandle& handle) {
  Bytes bytes{};
  net::encode_listen_handle(handle, bytes);
  return bytes;
}

void check(const ListenHandle& handle) {
  require(handle.address.port != 0, "a port that can be dialed");
  for (const std::string& text : {handle.host, handle.device}) {
    require(text.size() < 32, "a text fits its field with an end");
    require(is_one_printable_line(text), "a peer's text is one printable line");
  }
  require(is_one_printable_line(net::to_text(handle.address)), "an address has a printable text");
  const Bytes once = encoded(handle);
  const auto again = net::decode_listen_handle(once);
  require(again.has_value(), "a handle that was read is read again once it is written");
  require(encoded(*again) == once && again->dialer_proof == handle.dialer_proof &&
              again->listener_proof == handle.listener_proof && again->host == handle.host &&
              again->device == handle.device &&
              net::to_text(again->address) == net::to_text(handle.address),
          "a handle that was read is read the same once it is written");
}

}  // namespace

std::vector<Input> good_inputs() {
  ListenHandle handle;
  handle.dialer_proof.fill(std::byte{1});
  handle.listener_proof.fill(std::byte{2});
  handle.address.port = 4242;
  handle.address.address = {10, 0, 0, 1};
  handle.host = "host-a";
  handle.device = "mlx5_0";
  const Input ipv4 = bytes_of(encoded(handle));
  handle.address.ipv6 = true;
  handle.address.address = {0xfe, 0x80};
  handle.address.scope = 3;
  handle.host = std::string(40, 'h');
  return {ipv4, bytes_of(encoded(handle))};
}

void mend(Input& input) {
  input.resize(kListenHandleBytes);
  std::memcpy(input.data(), &net::kHandshakeMagic, sizeof(net::kHandshakeMagic));
}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  if (size < kListenHandleBytes) {
    return 0;
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (const auto handle = rocelane::net::decode_listen_handle(bytes.first<kListenHandleBytes>())) {
    note_accepted();
    check(*handle);
  }
  return 0;
}
