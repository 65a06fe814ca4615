#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "device/ll128_line.h"
#include "device/ll_line.h"

namespace rocelane::lab {
namespace {

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + 3);
  }
  return bytes;
}

// Aligned as NCCL's buffers are.
struct Wire {
  explicit Wire(size_t bytes) : words(bytes / 8 + 1, 0x5555555555555555) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
  std::vector<uint64_t> words;
};

TEST(DeviceLlLine, DataOfAnyLengthComesBack) {
  for (size_t bytes = 0; bytes < 70; ++bytes) {
    const std::vector<std::byte> sent = some_bytes(bytes);
    Wire wire(ll_lines(bytes) * kLlLineBytes);
    encode_ll(wire.data(), sent.data(), bytes, 9);
    EXPECT_EQ(count_ll_lines(wire.data(), ll_lines(bytes), 9), ll_lines(bytes));
    std::vector<std::byte> received(bytes);
    decode_ll(received.data(), wire.data(), bytes);
    EXPECT_EQ(received, sent);
  }
}

TEST(DeviceLlLine, BothHalvesOfALineCarryTheFlagAfterTheirData) {
  const std::vector<std::byte> data = some_bytes(8);
  Wire wire(kLlLineBytes);
  encode_ll(wire.data(), data.data(), 8, 0xabcd1234);
  for (const size_t half : {size_t{0}, size_t{1}}) {
    EXPECT_EQ(std::memcmp(wire.data() + 8 * half, data.data() + 4 * half, 4), 0);
    EXPECT_EQ(static_cast<uint32_t>(wire.words[half] >> 32), 0xabcd1234U);
  }
}

TEST(DeviceLlLine, ALineWithOneStaleHalfHasNotArrived) {
  const std::vector<std::byte> data = some_bytes(24);
  Wire wire(3 * kLlLineBytes);
  encode_ll(wire.data(), data.data(), 24, 9);
  wire.words[3] = wire.words[3] & 0xffffffff;
  EXPECT_EQ(count_ll_lines(wire.data(), 3, 9), 1U);
  EXPECT_EQ(count_ll_lines(wire.data(), 3, 10), 0U);
}

TEST(DeviceLl128Line, DataOfAnyLengthComesBack) {
  for (const size_t bytes : {0U, 1U, 119U, 120U, 121U, 1919U, 1920U, 1921U, 5000U}) {
    const std::vector<std::byte> sent = some_bytes(bytes);
    Wire wire(ll128_lines(bytes) * kLl128LineBytes);
    encode_ll128(wire.data(), sent.data(), bytes, 77);
    EXPECT_EQ(count_ll128_lines(wire.data(), ll128_lines(bytes), 77), ll128_lines(bytes));
    std::vector<std::byte> received(bytes);
    decode_ll128(received.data(), wire.data(), bytes);
    EXPECT_EQ(received, sent);
  }
}

TEST(DeviceLl128Line, EveryLineOfTheLastUnitIsFlagged) {
  EXPECT_EQ(ll128_lines(0), 0U);
  EXPECT_EQ(ll128_lines(1), 16U);
  EXPECT_EQ(ll128_lines(1920), 16U);
  EXPECT_EQ(ll128_lines(1921), 32U);
  Wire wire(16 * kLl128LineBytes);
  const std::vector<std::byte> data = some_bytes(1);
  encode_ll128(wire.data(), data.data(), 1, 5);
  for (size_t line = 0; line < 16; ++line) {
    EXPECT_EQ(wire.words[line * 16 + 15], 5U) << line;
  }
}

TEST(DeviceLl128Line, CountingStopsAtTheFirstStaleLine) {
  const std::vector<std::byte> data = some_bytes(1920);
  Wire wire(16 * kLl128LineBytes);
  encode_ll128(wire.data(), data.data(), 1920, 5);
  wire.words[3 * 16 + 15] = 4;
  EXPECT_EQ(count_ll128_lines(wire.data(), 16, 5), 3U);
}

}  // namespace
}  // namespace rocelane::lab
