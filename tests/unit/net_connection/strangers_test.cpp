#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/connection/accept_machine.h"

namespace rocelane::net {
namespace {

using std::chrono::seconds;

class StrangersTest : public testing::Test {
 protected:
  void SetUp() override {
    proof_.fill(std::byte{0x5a});
    SocketAddress loopback;
    loopback.address = {127, 0, 0, 1};
    auto listener = listen_on(loopback);
    ASSERT_TRUE(listener.ok()) << listener.error().what;
    listener_ = std::move(*listener);
  }

  // A connected client, as a stranger or as the real peer.
  FileDescriptor dial() {
    FileDescriptor client(socket(AF_INET, SOCK_STREAM, 0));
    const NativeSocketAddress address = to_native(listener_.address);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address.storage),
                        address.length),
              0);
    return client;
  }

  static void send_bytes(const FileDescriptor& client, std::span<const std::byte> bytes) {
    EXPECT_EQ(::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  static bool was_hung_up_on(const FileDescriptor& client) {
    std::byte answer{};
    return recv(client.get(), &answer, 1, 0) <= 0;
  }

  // Loopback delivers within the call, but accept may need a moment.
  bool step_finds_peer(Strangers& strangers, TimePoint now) {
    for (int i = 0; i < 200; ++i) {
      auto known = strangers.step(listener_, now);
      EXPECT_TRUE(known.ok());
      if (known->has_value()) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  Proof proof_{};
  TcpListener listener_;
  TimePoint start_;  // a virtual clock: deadlines pass without waiting
};

TEST_F(StrangersTest, ThePeerWithTheProofIsKnown) {
  Strangers strangers(proof_);
  const FileDescriptor peer = dial();
  send_bytes(peer, encode_proof(MessageType::kGreeting, proof_));
  EXPECT_TRUE(step_finds_peer(strangers, start_));
}

TEST_F(StrangersTest, AWrongProofIsHungUpOnAndTheRealPeerStillGetsThrough) {
  Strangers strangers(proof_);
  const FileDescriptor stranger = dial();
  Proof wrong = proof_;
  wrong[15] ^= std::byte{1};
  send_bytes(stranger, encode_proof(MessageType::kGreeting, wrong));
  const FileDescriptor peer = dial();
  send_bytes(peer, encode_proof(MessageType::kGreeting, proof_));
  EXPECT_TRUE(step_finds_peer(strangers, start_));
  EXPECT_TRUE(was_hung_up_on(stranger));
}

TEST_F(StrangersTest, ASilentDialerIsDroppedAfterItsDeadline) {
  Strangers strangers(proof_);
  const FileDescriptor silent = dial();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(strangers.step(listener_, start_).ok());
  ASSERT_TRUE(strangers.step(listener_, start_ + seconds(10)).ok());
  EXPECT_TRUE(was_hung_up_on(silent));
}

TEST_F(StrangersTest, AnAnswerIsNeverSentToAStranger) {
  Strangers strangers(proof_);
  const FileDescriptor stranger = dial();
  send_bytes(stranger, std::as_bytes(std::span("SSH-2.0-scanner\r\n")));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(strangers.step(listener_, start_).ok());
  std::byte answer{};
  EXPECT_LE(recv(stranger.get(), &answer, 1, 0), 0);
}

TEST_F(StrangersTest, ManySilentDialersDoNotKeepTheRealPeerOut) {
  Strangers strangers(proof_);
  std::vector<FileDescriptor> crowd;
  for (int i = 0; i < 40; ++i) {
    crowd.push_back(dial());
  }
  const FileDescriptor peer = dial();
  send_bytes(peer, encode_proof(MessageType::kGreeting, proof_));
  EXPECT_TRUE(step_finds_peer(strangers, start_));
}

}  // namespace
}  // namespace rocelane::net
