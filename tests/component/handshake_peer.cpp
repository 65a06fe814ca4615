#include "handshake_peer.h"

#include <thread>

#include <gtest/gtest.h>

namespace rocelane::test {

using std::chrono::milliseconds;

HandshakePeer::HandshakePeer(std::span<const std::byte, net::kListenHandleBytes> handle) {
  handle_ = net::decode_listen_handle(handle).value();
  auto stream = net::TcpStream::dial(handle_.address, std::nullopt);
  EXPECT_TRUE(stream.ok());
  stream_ = std::move(*stream);
  for (int i = 0; i < 1000 && !stream_.is_connected().value(); ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void HandshakePeer::send(std::vector<std::byte> message) {
  stream_.queue(std::move(message));
  EXPECT_TRUE(stream_.flush().value());
}

std::optional<net::Message> HandshakePeer::receive(const std::function<void()>& step) {
  for (int i = 0; i < 2000; ++i) {
    step();
    auto message = stream_.receive();
    if (!message.ok()) {
      return std::nullopt;
    }
    if (message->has_value()) {
      return std::move(**message);
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return std::nullopt;
}

net::EndDescription HandshakePeer::plausible_description(const net::Gid& gid) {
  net::EndDescription description;
  description.host = "host-of-the-test";
  description.process_id = 1;
  description.ports = {{"rxe9", 1, 3, {{gid, net::GidType::kRoceV2}}, 8U << 20U}};
  description.clear_to_send_address = 4096;
  description.clear_to_send_key = 1;
  description.control_lane = {17, 1};
  description.data_lanes = {{18, 1}, {19, 1}};
  return description;
}

}  // namespace rocelane::test
