// Which class the queue pairs of a connection carry, at both ends: a responder acknowledges with
// its own queue pair's class, so one end that has another puts half of the packets elsewhere.

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "lab_log.h"
#include "net/plugin/net_api.h"
#include "support/softverbs_objects.h"

namespace rocelane::test {
namespace {

using std::chrono::steady_clock;

// Only the dialer's communicator wishes a class, so the listener must take it from the handshake.
void connect_and_close(std::optional<uint8_t> dialers_wish) {
  net::Context* context = net::open_context(std::nullopt).value();
  std::array<std::byte, net::kHandleBytes> handle{};
  net::Listener* listener = net::listen(*context, 0, handle).value();
  net::SendConnection* sender = nullptr;
  net::ReceiveConnection* receiver = nullptr;
  const auto end = steady_clock::now() + std::chrono::seconds(60);
  while ((sender == nullptr || receiver == nullptr) && steady_clock::now() < end) {
    if (sender == nullptr) {
      auto result = net::connect(*context, 0, handle, dialers_wish);
      ASSERT_TRUE(result.ok()) << result.error().what;
      sender = *result;
    }
    if (receiver == nullptr) {
      auto result = net::accept(*listener);
      ASSERT_TRUE(result.ok()) << result.error().what;
      receiver = *result;
    }
    std::this_thread::yield();
  }
  net::close(listener);
  ASSERT_NE(sender, nullptr);
  ASSERT_NE(receiver, nullptr);
  net::close(sender);
  net::close(receiver);
  net::close_context(context);
}

// The queue pairs that `act` made, by class.
template <class Act>
std::map<int, int> made_by(Act act) {
  std::map<int, int> made;
  const auto before = count_softverbs_traffic_classes();
  act();
  for (const auto& [traffic_class, count] : count_softverbs_traffic_classes().value_or(made)) {
    const auto earlier = before->find(traffic_class);
    const int change = count - (earlier == before->end() ? 0 : earlier->second);
    if (change != 0) {
      made[traffic_class] = change;
    }
  }
  return made;
}

TEST(TrafficClassOfAConnection, IsOnTheQueuePairsOfBothEnds) {
  collect_log();
  if (!count_softverbs_traffic_classes().has_value()) {
    GTEST_SKIP() << "other devices do not list their queue pairs";
  }
  setenv("NCCL_IB_FIFO_TC", "184", 1);
  setenv("ROCELANE_GPU_DIRECT", "off", 1);  // the pair that flushes sends to itself, in class 0
  const auto made = made_by([] { connect_and_close(104); });
  unsetenv("NCCL_IB_FIFO_TC");
  unsetenv("ROCELANE_GPU_DIRECT");
  ASSERT_EQ(made.size(), 2U) << "a queue pair has another class than data or control: "
                             << testing::PrintToString(made);
  ASSERT_TRUE(made.contains(104) && made.contains(184));
  EXPECT_EQ(made.at(184), 2) << "one for control at each end";
  EXPECT_GE(made.at(104), 2);
  EXPECT_EQ(made.at(104) % 2, 0) << "as many for data at each end";
}

TEST(TrafficClassOfAConnection, IsZeroWhenNobodyWishesOne) {
  collect_log();
  if (!count_softverbs_traffic_classes().has_value()) {
    GTEST_SKIP() << "other devices do not list their queue pairs";
  }
  const auto made = made_by([] { connect_and_close(std::nullopt); });
  ASSERT_EQ(made.size(), 1U);
  EXPECT_TRUE(made.contains(0));
}

}  // namespace
}  // namespace rocelane::test
