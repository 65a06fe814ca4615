#include "net/abi/arguments.h"

#include <array>
#include <climits>

#include <gtest/gtest.h>

namespace rocelane::net::abi {
namespace {

alignas(8) char g_place[64];

class GroupedCall : public testing::Test {
 protected:
  GroupedCall() {
    for (size_t i = 0; i < data_.size(); ++i) {
      data_[i] = g_place + i;
      sizes_[i] = static_cast<int>(i);
      long_sizes_[i] = i;
      tags_[i] = static_cast<int>(100 + i);
      registrations_[i] = to_handle(reinterpret_cast<Registration*>(g_place));
    }
  }

  Result<BufferGroup<ReceiveBuffer>> receive(int n) {
    return receive_buffers("irecv", n, data_.data(), sizes_.data(), tags_.data(),
                           registrations_.data());
  }

  std::array<void*, 8> data_{};
  std::array<int, 8> sizes_{};
  std::array<size_t, 8> long_sizes_{};
  std::array<int, 8> tags_{};
  std::array<void*, 8> registrations_{};
};

TEST_F(GroupedCall, BecomesOneBufferAnEntry) {
  const auto group = receive(8);
  ASSERT_TRUE(group.ok());
  ASSERT_EQ(group->buffers().size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(group->buffers()[i].data, g_place + i);
    EXPECT_EQ(group->buffers()[i].bytes, i);
    EXPECT_EQ(group->buffers()[i].tag, static_cast<int>(100 + i));
    EXPECT_EQ(group->buffers()[i].registration, reinterpret_cast<Registration*>(g_place));
  }
}

TEST_F(GroupedCall, TakesSizesThatDoNotFitAnInt) {
  long_sizes_[1] = size_t{5} << 30;
  const auto group = receive_buffers("irecv", 2, data_.data(), long_sizes_.data(), tags_.data(),
                                     registrations_.data());
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->buffers()[1].bytes, size_t{5} << 30);
}

TEST_F(GroupedCall, RefusesAGroupThatIsEmptyOrTooLarge) {
  for (const int n : {0, -1, 9, INT_MAX, INT_MIN}) {
    const auto group = receive(n);
    ASSERT_FALSE(group.ok()) << n;
    EXPECT_EQ(group.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(GroupedCall, NamesTheArrayThatIsNull) {
  const auto refused = [&](void** data, const int* sizes, const int* tags, void** registrations) {
    const auto group = receive_buffers("irecv", 1, data, sizes, tags, registrations);
    return group.ok() ? std::string() : group.error().what;
  };
  void** data = data_.data();
  void** registrations = registrations_.data();
  EXPECT_EQ(refused(nullptr, sizes_.data(), tags_.data(), registrations),
            "irecv was called with NULL for data.");
  EXPECT_EQ(refused(data, nullptr, tags_.data(), registrations),
            "irecv was called with NULL for sizes.");
  EXPECT_EQ(refused(data, sizes_.data(), nullptr, registrations),
            "irecv was called with NULL for tags.");
  EXPECT_EQ(refused(data, sizes_.data(), tags_.data(), nullptr),
            "irecv was called with NULL for mhandles.");
}

TEST_F(GroupedCall, RefusesANegativeSizeAnywhereInTheGroup) {
  sizes_[5] = -1;
  EXPECT_TRUE(receive(5).ok());
  EXPECT_FALSE(receive(6).ok());
}

TEST_F(GroupedCall, LetsAnEmptyBufferBeNothing) {
  data_[0] = nullptr;
  registrations_[0] = nullptr;
  EXPECT_TRUE(receive(1).ok());
}

TEST_F(GroupedCall, WantsAddressAndRegistrationForBytes) {
  data_[3] = nullptr;
  EXPECT_FALSE(receive(4).ok());
  data_[3] = g_place;
  registrations_[3] = nullptr;
  EXPECT_FALSE(receive(4).ok());
}

TEST_F(GroupedCall, RefusesARegistrationThatIsSomethingElse) {
  registrations_[0] = to_handle(reinterpret_cast<Request*>(g_place));
  EXPECT_FALSE(receive(1).ok());
}

TEST_F(GroupedCall, ChecksAFlushLikeAReceive) {
  EXPECT_TRUE(flush_buffers("iflush", 8, data_.data(), sizes_.data(), registrations_.data()).ok());
  EXPECT_FALSE(flush_buffers("iflush", 9, data_.data(), sizes_.data(), registrations_.data()).ok());
  EXPECT_FALSE(flush_buffers("iflush", 1, data_.data(), nullptr, registrations_.data()).ok());
  sizes_[7] = INT_MIN;
  EXPECT_FALSE(flush_buffers("iflush", 8, data_.data(), sizes_.data(), registrations_.data()).ok());
}

}  // namespace
}  // namespace rocelane::net::abi
