#include "net/connection/clear_to_send.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

constexpr uint32_t kSequence = 41;

ClearToSend example() {
  ClearToSend record{};
  record.address = 0x7f0012345678;
  record.key = 0x1234;
  record.bytes = 4096;
  record.tag = 7;
  record.place = pack_place(2, 3);
  record.flags = kNoCompletion;
  record.check = clear_to_send_check(record, kSequence);
  return record;
}

TEST(ClearToSend, AZeroedRingHoldsNoValidRecord) {
  const ClearToSend zero{};
  EXPECT_NE(zero.check, clear_to_send_check(zero, 0));
  EXPECT_NE(zero.check, clear_to_send_check(zero, 1));
}

TEST(ClearToSend, AnyChangedByteIsNoticed) {
  const ClearToSend record = example();
  std::array<unsigned char, sizeof(ClearToSend)> bytes{};
  for (size_t i = 0; i < kClearToSendBytes; ++i) {
    std::memcpy(bytes.data(), &record, bytes.size());
    bytes.at(i) ^= 0x40;
    ClearToSend changed{};
    std::memcpy(&changed, bytes.data(), bytes.size());
    EXPECT_NE(changed.check, clear_to_send_check(changed, kSequence)) << "byte " << i;
  }
}

TEST(ClearToSend, AHalfWrittenRecordIsNotValidWhicheverWordsHaveArrived) {
  ClearToSend old_record = example();
  ClearToSend new_record = example();
  new_record.address += 4096;
  new_record.key += 1;
  new_record.tag = 9;
  constexpr uint32_t kLater = kSequence + kReceiveSlots;
  new_record.check = clear_to_send_check(new_record, kLater);
  constexpr size_t kWords = sizeof(ClearToSend) / sizeof(uint64_t);
  for (unsigned arrived = 1; arrived < (1U << kWords) - 1; ++arrived) {
    ClearToSend torn = old_record;
    for (size_t word = 0; word < kWords; ++word) {
      if ((arrived >> word & 1U) != 0) {
        std::memcpy(reinterpret_cast<char*>(&torn) + word * 8,
                    reinterpret_cast<const char*>(&new_record) + word * 8, 8);
      }
    }
    const bool looks_new = torn.check == clear_to_send_check(torn, kLater);
    const bool is_whole = std::memcmp(&torn, &new_record, kClearToSendBytes) == 0;
    EXPECT_TRUE(!looks_new || is_whole) << "words " << arrived;
  }
}

TEST(ClearToSend, ARecordOfAnEarlierTurnOfTheRingIsNotValidAgain) {
  const ClearToSend record = example();
  for (uint32_t turn = 1; turn < 100; ++turn) {
    EXPECT_NE(record.check, clear_to_send_check(record, kSequence + turn * kReceiveSlots));
  }
}

TEST(ClearToSend, KeysAreOfTheirRecordAloneAndAnyChangedByteIsNoticed) {
  ClearToSendKeys keys{};
  for (uint32_t i = 0; i < keys.keys.size(); ++i) {
    keys.keys.at(i) = 0x100 + i;
  }
  keys.check = clear_to_send_check(keys, example().check);
  EXPECT_NE(clear_to_send_check(ClearToSendKeys{}, 0), 0U) << "a zeroed ring holds no keys";
  EXPECT_NE(keys.check, clear_to_send_check(keys, example().check + 2));
  for (size_t i = 0; i < sizeof(keys); ++i) {
    ClearToSendKeys changed = keys;
    reinterpret_cast<unsigned char*>(&changed)[i] ^= 0x40;
    EXPECT_NE(changed.check, clear_to_send_check(changed, example().check)) << "byte " << i;
  }
}

TEST(ClearToSend, APlaceSaysWhichOfHowMany) {
  for (uint32_t count = 1; count <= kGroupedReceives; ++count) {
    for (uint32_t index = 0; index < count; ++index) {
      ClearToSend record{};
      record.place = pack_place(index, count);
      EXPECT_EQ(index_of(record), index);
      EXPECT_EQ(count_of(record), count);
    }
  }
}

}  // namespace
}  // namespace rocelane::net
