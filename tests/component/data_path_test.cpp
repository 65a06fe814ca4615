// Messages of every class between real queue pairs, each byte checked; over one port, and over two
// that are joined. Both ends are on the same ports: two ports of one host would need each other's
// ARP answers, which Linux does not give across interfaces.

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "lab_log.h"
#include "net/plugin/net_api.h"
#include "rdma_resources.h"
#include "support/softverbs_objects.h"

namespace rocelane::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr size_t kBufferBytes = size_t{24} << 20;
constexpr seconds kPatience{60};

// How many ports each end has.
struct Ports {
  int sender = 1;
  int receiver = 1;
};

int device_of(int ports) { return ports == 1 ? 0 : net::join_devices(std::array{0, 1}).value(); }

class DataPath : public testing::TestWithParam<Ports> {
 protected:
  void SetUp() override {
    if (GetParam().sender != GetParam().receiver && !count_softverbs_objects()) {
      GTEST_SKIP() << "two ports of one host do not reach each other here";
    }
    collect_log();
    before_ = count_resources();
    setenv("ROCELANE_GPU_DIRECT", "on", 1);
    context_ = net::open_context(std::nullopt).value();
    connect();
    source_.resize(kBufferBytes);
    target_.resize(kBufferBytes);
    source_registration_ = net::register_memory(*sender_, source_.data(), source_.size(),
                                                net::MemoryKind::kHost, std::nullopt)
                               .value();
    target_registration_ = net::register_memory(*receiver_, target_.data(), target_.size(),
                                                net::MemoryKind::kGpu, std::nullopt)
                               .value();
  }

  void TearDown() override {
    if (context_ == nullptr) {
      return;
    }
    net::deregister_memory(source_registration_);
    net::deregister_memory(target_registration_);
    net::close(sender_);
    net::close(receiver_);
    net::close_context(context_);
    unsetenv("ROCELANE_GPU_DIRECT");
    EXPECT_EQ(count_when_settled(before_), before_) << "something is left behind";
  }

  void connect() {
    std::array<std::byte, net::kHandleBytes> handle{};
    const int from = device_of(GetParam().sender);
    const int to = device_of(GetParam().receiver);
    net::Listener* listener = net::listen(*context_, to, handle).value();
    const auto start = steady_clock::now();
    while ((sender_ == nullptr || receiver_ == nullptr) &&
           steady_clock::now() - start < kPatience) {
      if (sender_ == nullptr) {
        auto result = net::connect(*context_, from, handle, std::nullopt);
        ASSERT_TRUE(result.ok()) << result.error().what;
        sender_ = *result;
      }
      if (receiver_ == nullptr) {
        auto result = net::accept(*listener);
        ASSERT_TRUE(result.ok()) << result.error().what;
        receiver_ = *result;
      }
      std::this_thread::yield();
    }
    net::close(listener);
    ASSERT_NE(sender_, nullptr) << "no connection in time";
    ASSERT_NE(receiver_, nullptr) << "no connection in time";
  }

  static void wait(net::Request* request, int* sizes) {
    const auto start = steady_clock::now();
    while (true) {
      const net::Outcome outcome = net::test(*request, sizes);
      ASSERT_NE(outcome, net::Outcome::kFailed) << net::why_failed(*request).what;
      if (outcome == net::Outcome::kEnded) {
        return;
      }
      ASSERT_LT(steady_clock::now() - start, kPatience) << "a request does not finish";
    }
  }

  net::Request* receive(std::span<const net::ReceiveBuffer> buffers) {
    return net::receive(*receiver_, buffers, false).value();
  }

  net::Request* send(size_t offset, size_t bytes, int tag) {
    const auto start = steady_clock::now();
    while (steady_clock::now() - start < kPatience) {
      auto request = net::send(*sender_, source_.data() + offset, bytes, tag, source_registration_);
      EXPECT_TRUE(request.ok()) << request.error().what;
      if (!request.ok() || *request != nullptr) {
        return request.ok() ? *request : nullptr;
      }
    }
    return nullptr;
  }

  net::ReceiveBuffer at(size_t offset, size_t bytes, int tag) {
    return {target_.data() + offset, bytes, tag, target_registration_};
  }

  void fill() {
    for (size_t i = 0; i + 8 <= source_.size(); i += 8) {
      const uint64_t word = random_();
      std::memcpy(source_.data() + i, &word, 8);
    }
    std::memset(target_.data(), 0x5a, target_.size());
  }

  bool is_untouched(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (target_[i] != 0x5a) {
        return false;
      }
    }
    return true;
  }

  Resources before_;
  net::Context* context_ = nullptr;
  net::SendConnection* sender_ = nullptr;
  net::ReceiveConnection* receiver_ = nullptr;
  std::vector<unsigned char> source_;
  std::vector<unsigned char> target_;
  net::Registration* source_registration_ = nullptr;
  net::Registration* target_registration_ = nullptr;
  std::mt19937_64 random_{std::random_device{}()};
};

TEST_P(DataPath, OneMessageOfEverySizeArrivesWholeAndTouchesNothingElse) {
  constexpr size_t kGuard = 256;
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{129}, size_t{4096}, size_t{65537},
        size_t{131072}, size_t{131073}, size_t{1000003}, size_t{9} << 20}) {
    fill();
    const std::array buffers{at(kGuard, bytes, 3)};
    net::Request* receiving = receive(buffers);
    net::Request* sending = send(1, bytes, 3);
    ASSERT_NE(sending, nullptr);
    int sent = -1;
    int received = -1;
    wait(receiving, &received);
    wait(sending, &sent);
    EXPECT_EQ(sent, static_cast<int>(bytes));
    EXPECT_EQ(received, static_cast<int>(bytes));
    EXPECT_EQ(std::memcmp(target_.data() + kGuard, source_.data() + 1, bytes), 0) << bytes;
    EXPECT_TRUE(is_untouched(0, kGuard)) << bytes;
    EXPECT_TRUE(is_untouched(kGuard + bytes, 2 * kGuard + bytes)) << bytes;
  }
}

TEST_P(DataPath, ASendLargerThanItsBufferIsCutAtTheBuffersEnd) {
  fill();
  const std::array buffers{at(0, 1000, 1)};
  net::Request* receiving = receive(buffers);
  net::Request* sending = send(0, 5000, 1);
  int sent = -1;
  int received = -1;
  wait(receiving, &received);
  wait(sending, &sent);
  EXPECT_EQ(sent, 1000);
  EXPECT_EQ(received, 1000);
  EXPECT_TRUE(is_untouched(1000, 6000));
}

TEST_P(DataPath, AGroupIsMatchedByTagWhateverTheOrderOfTheSends) {
  fill();
  std::array<net::ReceiveBuffer, 8> buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    buffers[i] = at(i * 300000, 300000, static_cast<int>(100 + i));
  }
  net::Request* receiving = receive(buffers);
  std::array<int, 8> order{5, 0, 7, 2, 1, 6, 3, 4};
  std::vector<net::Request*> sending;
  for (const int i : order) {
    sending.push_back(
        send(static_cast<size_t>(i) * 300000, static_cast<size_t>(i) * 40001, 100 + i));
  }
  std::array<int, 8> sizes{};
  wait(receiving, sizes.data());
  for (net::Request* request : sending) {
    wait(request, nullptr);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(sizes[i], static_cast<int>(i * 40001));
    EXPECT_EQ(std::memcmp(target_.data() + i * 300000, source_.data() + i * 300000, i * 40001), 0);
  }
}

TEST_P(DataPath, ASendWaitsForTheOldestGroupEvenWhenALaterOneHasItsTag) {
  const std::array first{at(0, 100, 1)};
  const std::array second{at(1000, 100, 2)};
  net::Request* receiving_first = receive(first);
  net::Request* receiving_second = receive(second);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(net::send(*sender_, source_.data(), 10, 2, source_registration_).value(), nullptr);
  net::Request* sending_first = send(0, 10, 1);
  net::Request* sending_second = send(0, 10, 2);
  wait(receiving_first, nullptr);
  wait(receiving_second, nullptr);
  wait(sending_first, nullptr);
  wait(sending_second, nullptr);
}

TEST_P(DataPath, ThousandsOfMessagesInFlightStayInOrderAndWhole) {
  constexpr int kMessages = 3000;
  constexpr size_t kMost = 3000;
  constexpr size_t kWindow = 32;
  fill();
  std::vector<size_t> sizes;
  for (int i = 0; i < kMessages; ++i) {
    sizes.push_back(random_() % kMost);
  }
  std::array<net::Request*, kWindow> receiving{};
  std::array<net::Request*, kWindow> sending{};
  int announced = 0;
  int sent = 0;
  int finished = 0;
  const auto start = steady_clock::now();
  while (finished < kMessages) {
    ASSERT_LT(steady_clock::now() - start, kPatience) << finished << " of " << kMessages;
    if (announced < kMessages && announced < finished + static_cast<int>(kWindow)) {
      const size_t place = static_cast<size_t>(announced) % kWindow;
      const std::array buffers{at(place * kMost, kMost, 9)};
      receiving.at(place) = receive(buffers);
      announced += receiving.at(place) != nullptr ? 1 : 0;
    }
    const size_t send_place = static_cast<size_t>(sent) % kWindow;
    if (sent < kMessages && sending.at(send_place) == nullptr) {
      auto request = net::send(*sender_, source_.data() + sent, sizes.at(static_cast<size_t>(sent)),
                               9, source_registration_);
      ASSERT_TRUE(request.ok()) << request.error().what;
      sending.at(send_place) = *request;
      sent += *request != nullptr ? 1 : 0;
    }
    for (net::Request*& request : sending) {
      if (request != nullptr && net::test(*request, nullptr) == net::Outcome::kEnded) {
        request = nullptr;
      }
    }
    const size_t place = static_cast<size_t>(finished) % kWindow;
    int size = -1;
    if (finished < announced && net::test(*receiving.at(place), &size) == net::Outcome::kEnded) {
      ASSERT_EQ(size, static_cast<int>(sizes.at(static_cast<size_t>(finished))));
      ASSERT_EQ(std::memcmp(target_.data() + place * kMost, source_.data() + finished,
                            static_cast<size_t>(size)),
                0)
          << "message " << finished;
      ++finished;
    }
  }
}

TEST_P(DataPath, AFlushOfGpuMemoryFinishes) {
  const std::array buffers{at(0, 100, 1)};
  net::Request* receiving = receive(buffers);
  net::Request* sending = send(0, 100, 1);
  wait(receiving, nullptr);
  wait(sending, nullptr);
  const std::array flushed{net::FlushBuffer{target_.data(), 100, target_registration_}};
  net::Request* request = net::flush(*receiver_, flushed).value();
  ASSERT_NE(request, nullptr);
  wait(request, nullptr);
}

TEST_P(DataPath, ClosingWithRequestsUnderWayLeavesNothingBehind) {
  std::array buffers{at(0, 8 << 20, 1)};
  for (int i = 0; i < 8; ++i) {
    ASSERT_NE(receive(buffers), nullptr);
  }
  for (int i = 0; i < 4; ++i) {
    ASSERT_NE(send(0, 8 << 20, 1), nullptr);
  }
  // TearDown closes while megabytes are on the wire, and counts.
}

TEST_P(DataPath, AFailureIsSaidOnceWithPortPeerLaneAndCause) {
  // The buffer disappears behind the NIC's back: its next access is refused.
  net::Registration* gone =
      net::register_memory(*receiver_, target_.data(), 4096, net::MemoryKind::kHost, std::nullopt)
          .value();
  const std::array buffers{net::ReceiveBuffer{target_.data(), 4096, 1, gone}};
  net::Request* receiving = receive(buffers);
  net::deregister_memory(gone);
  net::Request* sending = send(0, 4096, 1);
  ASSERT_NE(sending, nullptr);
  const auto start = steady_clock::now();
  net::Outcome outcome = net::test(*sending, nullptr);
  while (outcome == net::Outcome::kPending && steady_clock::now() - start < kPatience) {
    outcome = net::test(*sending, nullptr);
  }
  ASSERT_EQ(outcome, net::Outcome::kFailed);
  const Error cause = net::why_failed(*sending);
  const std::string& what = cause.what;
  const auto name_of = [](int ports) {
    return device_name(0) + (ports == 1 ? ":1 on " : ":1+" + device_name(1) + ":1 on ");
  };
  for (const std::string& part :
       {name_of(GetParam().sender), " to " + name_of(GetParam().receiver), std::string("data lane"),
        std::string("QP 0x"), std::string("status 10"), std::string("deregistered too early")}) {
    EXPECT_NE(what.find(part), std::string::npos) << part << " is missing in: " << what;
  }
  EXPECT_FALSE(cause.already_said);
  ASSERT_EQ(net::test(*sending, nullptr), net::Outcome::kFailed);
  EXPECT_TRUE(net::why_failed(*sending).already_said);
  (void)receiving;
}

// Of messages of all sizes together, whether they are cut or not. In a random order, for lanes take
// turns, and a pattern that repeats may keep step with them.
TEST_P(DataPath, EveryPortOfTheSenderCarriesTheSame) {
  const auto before_messages = count_softverbs_sent_bytes();
  if (!before_messages) {
    GTEST_SKIP() << "only softverbs counts bytes by port";
  }
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::array sizes{size_t{4096}, size_t{65536}, size_t{1} << 20};
  for (int message = 0; message < 300; ++message) {
    const size_t bytes = sizes.at(random() % sizes.size());
    const std::array buffers{at(0, bytes, 1)};
    net::Request* receiving = receive(buffers);
    net::Request* sending = send(0, bytes, 1);
    wait(receiving, nullptr);
    wait(sending, nullptr);
  }
  const auto after = count_softverbs_sent_bytes();
  const auto carried = [&](size_t rail) {
    const std::string name = device_name(rail);
    return static_cast<double>(after->at(name) - before_messages->at(name));
  };
  if (GetParam().sender == 1) {
    EXPECT_GT(carried(0), 0);
    return;
  }
  EXPECT_NEAR(carried(1) / carried(0), 1.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Ports, DataPath,
                         testing::Values(Ports{1, 1}, Ports{2, 2}, Ports{2, 1}, Ports{1, 2}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.sender) + "To" +
                                  std::to_string(tested.param.receiver);
                         });

}  // namespace
}  // namespace rocelane::test
