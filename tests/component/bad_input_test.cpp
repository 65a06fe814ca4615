// What a wrong setting or a wrong peer gets: one sentence, soon, and nothing left behind. Over real
// verbs.

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "handshake_peer.h"
#include "lab_log.h"
#include "net/connection/accept_machine.h"
#include "net/device/gid.h"
#include "net/plugin/net_api.h"
#include "rdma_resources.h"

namespace rocelane::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr seconds kSoon{10};

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    collect_log();
    take_warnings();
    before_ = count_resources();
  }

  void TearDown() override {
    for (const std::string& name : names_) {
      unsetenv(name.c_str());
    }
    EXPECT_LT(steady_clock::now() - start_, kSoon);
    EXPECT_EQ(count_when_settled(before_), before_) << "something is left behind";
  }

  void set(const std::string& name, const std::string& value) {
    names_.push_back(name);
    setenv(name.c_str(), value.c_str(), 1);
  }

  static std::string error_of_opening() {
    const auto context = net::open_context(std::nullopt);
    if (context.ok()) {
      net::close_context(*context);
      return "";
    }
    return context.error().what;
  }

  // Steps the listener until it fails; empty if it does not within the time.
  std::string error_of_accepting(net::Listener& listener) {
    while (steady_clock::now() - start_ < kSoon) {
      const auto connection = net::accept(listener);
      if (!connection.ok()) {
        return connection.error().what;
      }
      EXPECT_EQ(*connection, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "";
  }

  std::vector<std::string> names_;
  Resources before_;
  steady_clock::time_point start_ = steady_clock::now();
};

TEST_F(BadInput, ADeviceFilterThatMatchesNothingListsWhatExists) {
  set("NCCL_IB_HCA", "=mlx5_7");
  const std::string error = error_of_opening();
  EXPECT_THAT(error, HasSubstr("NCCL_IB_HCA"));
  EXPECT_THAT(error, HasSubstr("mlx5_7"));
  EXPECT_THAT(error, HasSubstr(device_name(0)));
}

TEST_F(BadInput, ATrafficClassOf300IsRefusedByName) {
  set("NCCL_IB_TC", "300");
  const std::string error = error_of_opening();
  EXPECT_THAT(error, HasSubstr("NCCL_IB_TC=300"));
  EXPECT_THAT(error, HasSubstr("255"));
}

TEST_F(BadInput, AnEmptyGidIndexNamesTheSettingAndTheGoodOnes) {
  set("NCCL_IB_GID_INDEX", "200");
  const std::string error = error_of_opening();
  EXPECT_THAT(error, HasSubstr("NCCL_IB_GID_INDEX=200"));
  EXPECT_THAT(error, HasSubstr(device_name(0)));
}

class BadPeer : public BadInput {
 protected:
  void SetUp() override {
    BadInput::SetUp();
    context_ = net::open_context(std::nullopt).value();
    listener_ = net::listen(*context_, 0, handle_).value();
  }

  void TearDown() override {
    net::close(listener_);
    net::close_context(context_);
    BadInput::TearDown();
  }

  // One call of NCCL's; what it returns is not what these tests look at.
  std::function<void()> accepting() {
    return [this] { (void)net::accept(*listener_).ok(); };
  }

  net::Context* context_ = nullptr;
  net::Listener* listener_ = nullptr;
  std::array<std::byte, net::kHandleBytes> handle_{};
};

TEST_F(BadPeer, OfAnotherProtocolVersionIsToldSoAndNamed) {
  HandshakePeer peer(handle_);
  auto greeting = net::encode_proof(net::MessageType::kGreeting, peer.handle().dialer_proof);
  greeting[4] = std::byte{9};
  peer.send(greeting);
  const std::string error = error_of_accepting(*listener_);
  EXPECT_THAT(error, HasSubstr("version 9"));
  EXPECT_THAT(error, HasSubstr("install the same Rocelane"));
  const auto answer = peer.receive(accepting());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->type, net::MessageType::kRefusal);
  EXPECT_THAT(net::decode_refusal(answer->body), HasSubstr("version 9"));
}

TEST_F(BadPeer, ThatVanishesInTheMiddleIsNamed) {
  HandshakePeer peer(handle_);
  peer.send(net::encode_proof(net::MessageType::kGreeting, peer.handle().dialer_proof));
  ASSERT_TRUE(peer.receive(accepting()).has_value()) << "no welcome";
  peer.hang_up();
  const std::string error = error_of_accepting(*listener_);
  EXPECT_THAT(error, HasSubstr("closed the set-up connection"));
  EXPECT_THAT(error, HasSubstr(device_name(0)));
}

// On a virtual clock: a silent peer may only be busy, so the patience is a minute.
TEST_F(BadInput, APeerThatFallsSilentInTheMiddleIsGivenUp) {
  auto ports = net::open_ports(default_settings());
  ASSERT_TRUE(ports.ok()) << ports.error().what;
  net::EndFacts facts;
  facts.ports = {ports->ports.front()};
  facts.completions = verbs::CompletionHub::create();
  facts.settings = std::make_shared<const Settings>(default_settings());
  facts.set_up_address.address = {127, 0, 0, 1};
  net::ListenHandle handle;
  auto machine = net::AcceptMachine::create(std::move(facts), &handle);
  ASSERT_TRUE(machine.ok()) << machine.error().what;
  std::array<std::byte, net::kListenHandleBytes> bytes{};
  net::encode_listen_handle(handle, bytes);

  const TimePoint start;
  HandshakePeer peer(bytes);
  peer.send(net::encode_proof(net::MessageType::kGreeting, handle.dialer_proof));
  const auto step = [&] { EXPECT_TRUE((*machine)->step(start).ok()); };
  ASSERT_TRUE(peer.receive(step).has_value()) << "no welcome";
  EXPECT_TRUE((*machine)->step(start + seconds(59)).ok());
  const auto given_up = (*machine)->step(start + seconds(61));
  ASSERT_FALSE(given_up.ok());
  EXPECT_THAT(given_up.error().what, HasSubstr("fell silent"));
}

TEST_F(BadPeer, WhoseNicCannotBeReachedIsNamedWithBothAddresses) {
  HandshakePeer peer(handle_);
  peer.send(net::encode_proof(net::MessageType::kGreeting, peer.handle().dialer_proof));
  ASSERT_TRUE(peer.receive(accepting()).has_value()) << "no welcome";
  // An address of the rail's own network that nobody has: ARP stays without an answer.
  const auto own = net::device_properties(0);
  ASSERT_TRUE(own.ok());
  const std::string nobody = std::string(std::getenv("ROCELANE_LAB_UNUSED_ADDRESS"));
  peer.send(net::encode_description(HandshakePeer::plausible_description(*net::parse_gid(nobody))));
  const std::string error = error_of_accepting(*listener_);
  EXPECT_THAT(error, HasSubstr("rxe9:1 on host-of-the-test"));
  EXPECT_THAT(error, HasSubstr(device_name(0) + ":1"));
  EXPECT_THAT(error, HasSubstr("ARP"));
}

TEST_F(BadPeer, StrangersDoNotDisturbThePeer) {
  HandshakePeer stranger(handle_);
  stranger.send(net::encode_proof(net::MessageType::kGreeting, net::Proof{}));
  HandshakePeer peer(handle_);
  peer.send(net::encode_proof(net::MessageType::kGreeting, peer.handle().dialer_proof));
  const auto welcome = peer.receive(accepting());
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->type, net::MessageType::kWelcome);
  EXPECT_TRUE(net::proofs_equal(welcome->body, peer.handle().listener_proof));
  EXPECT_THAT(take_warnings(), testing::ElementsAre(HasSubstr("dropped")));
}

TEST_F(BadPeer, AHandleOfAnotherPluginIsRefusedByTheDialer) {
  const std::array<std::byte, net::kHandleBytes> foreign{};
  const auto connection = net::connect(*context_, 0, foreign, std::nullopt);
  ASSERT_FALSE(connection.ok());
  EXPECT_THAT(connection.error().what, HasSubstr("NCCL_NET_PLUGIN=rocelane"));
}

TEST_F(BadPeer, AListenerThatIsGoneIsNamedByTheDialer) {
  net::close(listener_);
  listener_ = nullptr;
  while (steady_clock::now() - start_ < kSoon) {
    const auto connection = net::connect(*context_, 1, handle_, std::nullopt);
    if (!connection.ok()) {
      EXPECT_THAT(connection.error().what, HasSubstr(device_name(1) + ":1"));
      EXPECT_THAT(connection.error().what, HasSubstr(device_name(0) + " on"));
      return;
    }
    ASSERT_EQ(*connection, nullptr);
  }
  FAIL() << "the dialer never gave up";
}

}  // namespace
}  // namespace rocelane::test
