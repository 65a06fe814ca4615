#include "net/connection/listen_handle.h"

#include <gtest/gtest.h>

#include "net/device/port_facts.h"

namespace rocelane::net {
namespace {

ListenHandle example() {
  ListenHandle handle;
  handle.dialer_proof.fill(std::byte{1});
  handle.listener_proof.fill(std::byte{2});
  handle.address.port = 4242;
  handle.address.address = {10, 0, 0, 1};
  handle.host = "a-host-name-that-is-longer-than-its-field";
  handle.device = "mlx5_0";
  handle.ports = 3;
  return handle;
}

TEST(ListenHandle, ArrivesAsItWasSent) {
  std::array<std::byte, kListenHandleBytes> bytes{};
  encode_listen_handle(example(), bytes);
  const auto received = decode_listen_handle(bytes);
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->dialer_proof, example().dialer_proof);
  EXPECT_EQ(received->listener_proof, example().listener_proof);
  EXPECT_EQ(to_text(received->address), "10.0.0.1:4242");
  EXPECT_EQ(received->host, "a-host-name-that-is-longer-than");
  EXPECT_EQ(received->device, "mlx5_0");
  EXPECT_EQ(received->ports, 3);
}

TEST(ListenHandle, OfAnotherPluginIsNotOurs) {
  std::array<std::byte, kListenHandleBytes> bytes{};
  EXPECT_FALSE(decode_listen_handle(bytes).has_value());
  bytes.fill(std::byte{0xff});
  EXPECT_FALSE(decode_listen_handle(bytes).has_value());
}

TEST(ListenHandle, TheNumberOfPortsIsAlwaysOneThatThereMayBe) {
  for (const int claimed : {0, 9, 255}) {
    ListenHandle handle = example();
    handle.ports = static_cast<uint8_t>(claimed);
    std::array<std::byte, kListenHandleBytes> bytes{};
    encode_listen_handle(handle, bytes);
    const auto received = decode_listen_handle(bytes);
    ASSERT_TRUE(received.has_value());
    EXPECT_EQ(received->ports, claimed == 0 ? 1 : kMostRails);
  }
}

TEST(ListenHandle, CarriesAnIpv6AddressWithItsScope) {
  ListenHandle handle = example();
  handle.address.ipv6 = true;
  handle.address.address = {0xfe, 0x80};
  handle.address.address[15] = 1;
  handle.address.scope = 3;
  std::array<std::byte, kListenHandleBytes> bytes{};
  encode_listen_handle(handle, bytes);
  const auto received = decode_listen_handle(bytes);
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(to_text(received->address), "[fe80::1]:4242");
  EXPECT_EQ(received->address.scope, 3U);
}

}  // namespace
}  // namespace rocelane::net
