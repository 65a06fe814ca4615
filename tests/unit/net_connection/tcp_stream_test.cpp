#include "net/connection/tcp_stream.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace rocelane::net {
namespace {

// Two ends of one connection, without any network.
struct Pair {
  TcpStream ours;
  FileDescriptor theirs;
};

Pair make_pair() {
  int descriptors[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, descriptors), 0);
  return {TcpStream(FileDescriptor(descriptors[0])), FileDescriptor(descriptors[1])};
}

void write_all(const FileDescriptor& end, std::span<const std::byte> bytes) {
  ASSERT_EQ(::send(end.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
}

TEST(TcpStream, AMessageThatArrivesByteByByteIsOneMessage) {
  Pair pair = make_pair();
  const auto message = encode_refusal("no");
  for (size_t i = 0; i < message.size(); ++i) {
    const auto early = pair.ours.receive();
    ASSERT_TRUE(early.ok());
    ASSERT_FALSE(early->has_value()) << "after " << i << " bytes";
    write_all(pair.theirs, std::span(message).subspan(i, 1));
  }
  const auto whole = pair.ours.receive();
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(whole->has_value());
  EXPECT_EQ((*whole)->type, MessageType::kRefusal);
  EXPECT_EQ(decode_refusal((*whole)->body), "no");
}

TEST(TcpStream, TwoMessagesInOnePacketAreTwoMessages) {
  Pair pair = make_pair();
  auto both = encode_ready();
  const auto second = encode_refusal("later");
  both.insert(both.end(), second.begin(), second.end());
  write_all(pair.theirs, both);
  EXPECT_EQ((*pair.ours.receive())->type, MessageType::kReady);
  EXPECT_EQ((*pair.ours.receive())->type, MessageType::kRefusal);
}

TEST(TcpStream, AForeignProtocolIsRefusedAfterItsFirstBytes) {
  Pair pair = make_pair();
  write_all(pair.theirs, std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  const auto message = pair.ours.receive();
  ASSERT_FALSE(message.ok());
  EXPECT_NE(message.error().what.find("does not speak Rocelane"), std::string::npos);
}

TEST(TcpStream, ALengthThatIsNotTheMessagesOwnIsRefusedBeforeItIsRead) {
  Pair pair = make_pair();
  auto message = encode_ready();
  message[8] = std::byte{0xff};
  message[11] = std::byte{0x7f};
  write_all(pair.theirs, message);
  EXPECT_FALSE(pair.ours.receive().ok());
}

TEST(TcpStream, APeerThatClosesIsSeen) {
  Pair pair = make_pair();
  EXPECT_FALSE(pair.ours.peer_is_gone());
  pair.theirs = FileDescriptor();
  EXPECT_TRUE(pair.ours.peer_is_gone());
  EXPECT_FALSE(pair.ours.receive().ok());
  pair.ours.queue(encode_ready());
  EXPECT_FALSE(pair.ours.flush().ok()) << "and no SIGPIPE kills the process";
}

TEST(TcpStream, DialsAListenerOnLoopback) {
  SocketAddress loopback;
  loopback.address = {127, 0, 0, 1};
  auto listener = listen_on(loopback);
  ASSERT_TRUE(listener.ok()) << listener.error().what;
  EXPECT_NE(listener->address.port, 0);
  auto stream = TcpStream::dial(listener->address, loopback);
  ASSERT_TRUE(stream.ok()) << stream.error().what;
  for (int i = 0; i < 1000 && !stream->is_connected().value(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(stream->is_connected().value());
  const auto accepted = accept_from(*listener);
  ASSERT_TRUE(accepted.ok());
  EXPECT_TRUE(accepted->has_value());
}

}  // namespace
}  // namespace rocelane::net
