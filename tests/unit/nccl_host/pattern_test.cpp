#include "nccl_host/pattern.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace rocelane::nccl_host {
namespace {

TEST(Pattern, IsFoundAgainAtEverySizeAndAddress) {
  std::vector<std::byte> memory(400);
  for (size_t shift = 0; shift < 9; ++shift) {
    for (const size_t bytes : {0U, 1U, 7U, 8U, 9U, 64U, 301U}) {
      const std::span<std::byte> message(memory.data() + shift, bytes);
      fill_pattern(message, 5);
      EXPECT_EQ(first_wrong_byte(message, 5), std::nullopt) << shift << " " << bytes;
      EXPECT_EQ(count_wrong_bytes(message, 5), 0U);
    }
  }
}

TEST(Pattern, ShowsEverySingleWrongByte) {
  std::vector<std::byte> message(77);
  for (size_t at = 0; at < message.size(); ++at) {
    fill_pattern(message, 9);
    message[at] ^= std::byte{1};
    EXPECT_EQ(first_wrong_byte(message, 9), at);
    EXPECT_EQ(count_wrong_bytes(message, 9), 1U);
    EXPECT_EQ(first_wrong_byte(message, 9, at + 1), std::nullopt);
  }
}

TEST(Pattern, DiffersFromMessageToMessageAndPlaceToPlace) {
  std::set<uint64_t> words;
  for (uint64_t message = 0; message < 100; ++message) {
    for (size_t word = 0; word < 100; ++word) {
      words.insert(pattern_word(message, word));
    }
  }
  EXPECT_EQ(words.size(), 10000U);
}

TEST(Pattern, ShowsWhatWasNotWrittenYet) {
  std::vector<std::byte> message(50, kUntouched);
  const std::span<std::byte> all(message);
  fill_pattern(all, 3);
  std::ranges::fill(all.subspan(20, 5), kUntouched);
  EXPECT_EQ(first_missing_byte(all, 3, 0), 20U);
  EXPECT_EQ(first_missing_byte(all, 3, 30), std::nullopt);
  std::ranges::fill(all.subspan(20, 5), std::byte{1});
  EXPECT_EQ(first_missing_byte(all, 3, 0), std::nullopt) << "wrong, but written";
}

TEST(Untouched, MemoryShowsWhereItWasTouched) {
  std::vector<std::byte> memory(41, kUntouched);
  EXPECT_EQ(first_byte_that_is_not(memory, kUntouched), std::nullopt);
  for (size_t at = 0; at < memory.size(); ++at) {
    memory[at] = std::byte{0};
    EXPECT_EQ(first_byte_that_is_not(memory, kUntouched), at);
    memory[at] = kUntouched;
  }
}

}  // namespace
}  // namespace rocelane::nccl_host
