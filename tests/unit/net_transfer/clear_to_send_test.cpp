#include "net/connection/clear_to_send.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

ClearToSend example() {
  ClearToSend record{};
  record.address = 0x7f0012345678;
  record.key = 0x1234;
  record.bytes = 4096;
  record.tag = 7;
  record.index = 2;
  record.count = 3;
  record.sequence = 41;
  record.check = clear_to_send_check(record);
  return record;
}

TEST(ClearToSend, AZeroedRingHoldsNoValidRecord) {
  const ClearToSend zero{};
  EXPECT_NE(zero.check, clear_to_send_check(zero));
}

TEST(ClearToSend, AnyChangedByteIsNoticed) {
  const ClearToSend record = example();
  std::array<unsigned char, sizeof(ClearToSend)> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::memcpy(bytes.data(), &record, bytes.size());
    bytes.at(i) ^= 0x40;
    ClearToSend changed{};
    std::memcpy(&changed, bytes.data(), bytes.size());
    EXPECT_NE(changed.check, clear_to_send_check(changed)) << "byte " << i;
  }
}

TEST(ClearToSend, AHalfWrittenRecordIsNotValidWhicheverWordsHaveArrived) {
  ClearToSend old_record = example();
  ClearToSend new_record = example();
  new_record.address += 4096;
  new_record.key += 1;
  new_record.tag = 9;
  new_record.sequence += kReceiveSlots;
  new_record.check = clear_to_send_check(new_record);
  constexpr size_t kWords = sizeof(ClearToSend) / sizeof(uint64_t);
  for (unsigned arrived = 1; arrived < (1U << kWords) - 1; ++arrived) {
    ClearToSend torn = old_record;
    for (size_t word = 0; word < kWords; ++word) {
      if ((arrived >> word & 1U) != 0) {
        std::memcpy(reinterpret_cast<char*>(&torn) + word * 8,
                    reinterpret_cast<const char*>(&new_record) + word * 8, 8);
      }
    }
    const bool looks_new =
        torn.sequence == new_record.sequence && torn.check == clear_to_send_check(torn);
    const bool is_whole = std::memcmp(&torn, &new_record, sizeof(torn)) == 0;
    EXPECT_TRUE(!looks_new || is_whole) << "words " << arrived;
  }
}

TEST(ClearToSend, ASlotComesRoundAfterAllOthers) {
  EXPECT_EQ(ring_index(1, 0), ring_index(1 + kReceiveSlots, 0));
  EXPECT_EQ(ring_index(2, 0) - ring_index(1, 0), kGroupedReceives);
  EXPECT_LT(ring_index(UINT32_MAX, kGroupedReceives - 1),
            kClearToSendRingBytes / sizeof(ClearToSend));
}

}  // namespace
}  // namespace rocelane::net
