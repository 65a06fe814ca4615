// What registrations cost the NIC, counted by the device itself.

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/file_descriptor.h"
#include "net/plugin/net_api.h"
#include "rdma_resources.h"

namespace rocelane::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr size_t kBytes = size_t{1} << 20;
constexpr seconds kPatience{60};

class Registrations : public testing::Test {
 protected:
  void SetUp() override {
    before_ = count_resources();
    setenv("ROCELANE_GPU_DIRECT", "on", 1);
    context_ = net::open_context(std::nullopt).value();
    std::array<std::byte, net::kHandleBytes> handle{};
    net::Listener* listener = net::listen(*context_, 0, handle).value();
    const auto start = steady_clock::now();
    while ((sender_ == nullptr || receiver_ == nullptr) &&
           steady_clock::now() - start < kPatience) {
      sender_ = sender_ == nullptr ? net::connect(*context_, 0, handle, {}).value() : sender_;
      receiver_ = receiver_ == nullptr ? net::accept(*listener).value() : receiver_;
      std::this_thread::yield();
    }
    net::close(listener);
    ASSERT_NE(sender_, nullptr) << "no connection in time";
    ASSERT_NE(receiver_, nullptr) << "no connection in time";
    connected_ = count_resources().memory_regions;
  }

  void TearDown() override {
    net::close(sender_);
    net::close(receiver_);
    net::close_context(context_);
    unsetenv("ROCELANE_GPU_DIRECT");
    EXPECT_EQ(count_when_settled(before_), before_) << "something is left behind";
  }

  int live() const { return count_resources().memory_regions - connected_; }

  net::Registration* on_sender(size_t offset, size_t bytes, net::MemoryKind kind) {
    return net::register_memory(*sender_, memory_.data() + offset, bytes, kind, std::nullopt)
        .value();
  }
  net::Registration* on_receiver(size_t offset, size_t bytes, net::MemoryKind kind) {
    return net::register_memory(*receiver_, memory_.data() + offset, bytes, kind, std::nullopt)
        .value();
  }

  Resources before_;
  int connected_ = 0;
  net::Context* context_ = nullptr;
  net::SendConnection* sender_ = nullptr;
  net::ReceiveConnection* receiver_ = nullptr;
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(kBytes);
};

TEST_F(Registrations, OfOneBufferOnManyConnectionsCostTheNicOne) {
  net::Registration* first = on_sender(0, kBytes, net::MemoryKind::kHost);
  net::Registration* second = on_receiver(0, kBytes, net::MemoryKind::kHost);
  net::Registration* part = on_receiver(4096, 4096, net::MemoryKind::kHost);
  EXPECT_NE(first, second);
  EXPECT_EQ(live(), 1);
  net::deregister_memory(first);
  net::deregister_memory(part);
  EXPECT_EQ(live(), 1);
  net::deregister_memory(second);
  EXPECT_EQ(live(), 0);
}

TEST_F(Registrations, OfTheSameAddressesInAnotherWayAreOthers) {
  net::Registration* host = on_sender(0, kBytes, net::MemoryKind::kHost);
  net::Registration* gpu = on_sender(0, kBytes, net::MemoryKind::kGpu);
  EXPECT_EQ(live(), 2);
  net::deregister_memory(host);
  net::deregister_memory(gpu);
  EXPECT_EQ(live(), 0);
}

TEST_F(Registrations, ThatAreRefusedLeaveNothing) {
  void* nowhere = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nowhere, MAP_FAILED);
  munmap(nowhere, kBytes);
  EXPECT_FALSE(
      net::register_memory(*sender_, nowhere, kBytes, net::MemoryKind::kHost, std::nullopt).ok());
  EXPECT_FALSE(net::register_memory(*sender_, memory_.data(), kBytes, net::MemoryKind::kGpu,
                                    net::DmaBuf{-1, 0})
                   .ok());
  EXPECT_EQ(live(), 0);
}

TEST_F(Registrations, OfOneDmaBufAreSharedUnderAnyDescriptor) {
  const FileDescriptor buffer(memfd_create("buffer", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(buffer.get(), kBytes), 0);
  if (!net::device_properties(0).value().dma_buf) {
    // soft-RoCE: there is nothing to share, and the refusal leaves nothing behind.
    const auto refused = net::register_memory(*sender_, memory_.data(), kBytes,
                                              net::MemoryKind::kGpu, net::DmaBuf{buffer.get(), 0});
    ASSERT_FALSE(refused.ok());
    EXPECT_FALSE(refused.error().what.empty());
    EXPECT_EQ(live(), 0);
    return;
  }
  const auto share = [&](const FileDescriptor& descriptor) {
    return net::register_memory(*sender_, memory_.data(), kBytes, net::MemoryKind::kGpu,
                                net::DmaBuf{descriptor.get(), 0})
        .value();
  };
  net::Registration* first = share(buffer);
  net::Registration* second = nullptr;
  {
    const FileDescriptor again(dup(buffer.get()));
    second = share(again);
  }
  EXPECT_EQ(live(), 1);
  const FileDescriptor other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(other.get(), kBytes), 0);
  net::Registration* third = share(other);
  EXPECT_EQ(live(), 2);
  for (net::Registration* one : {first, second, third}) {
    net::deregister_memory(one);
  }
  EXPECT_EQ(live(), 0);
}

}  // namespace
}  // namespace rocelane::test
