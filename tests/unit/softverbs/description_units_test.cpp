#include <cerrno>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "softverbs/description/units.h"
#include "softverbs/description/words.h"

namespace rocelane::softverbs {
namespace {

TEST(Units, RatesAreInBitsPerSecond) {
  EXPECT_EQ(parse_rate("100Gb/s"), 100e9);
  EXPECT_EQ(parse_rate("12.5 GB/s"), 100e9);
  EXPECT_EQ(parse_rate("1kb/s"), 1e3);
  EXPECT_EQ(parse_rate("100Tb/s"), 100e12);
  EXPECT_EQ(parse_rate("unlimited"), 0.0);
}

TEST(Units, RatesWithoutUnitOrOutOfRangeAreNone) {
  for (const char* text : {"", "100", "Gb/s", "100G", "100 gb/s", "0Gb/s", "999b/s", "101Tb/s",
                           "-1Gb/s", "1e3Gb/s", "infGb/s", "nanGb/s", "1Gb/s ", " 1Gb/s"}) {
    EXPECT_EQ(parse_rate(text), std::nullopt) << text;
  }
}

TEST(Units, DurationsAreInNanoseconds) {
  EXPECT_EQ(parse_duration("0s"), 0u);
  EXPECT_EQ(parse_duration("500ns"), 500u);
  EXPECT_EQ(parse_duration("1.5us"), 1500u);
  EXPECT_EQ(parse_duration("200ms"), 200'000'000u);
  EXPECT_EQ(parse_duration("2 h"), 7'200'000'000'000u);
  EXPECT_EQ(parse_duration("365d"), 31'536'000'000'000'000u);
  for (const char* text : {"", "5", "-1s", "366d", "1m", "1 s s", "0x1s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Units, SizesAreInBytes) {
  EXPECT_EQ(parse_bytes("4096B"), 4096u);
  EXPECT_EQ(parse_bytes("256KiB"), 262144u);
  EXPECT_EQ(parse_bytes("1.5kB"), 1500u);
  EXPECT_EQ(parse_bytes("1024GiB"), uint64_t{1} << 40);
  for (const char* text : {"", "1", "1K", "1025GiB", "-1B", "1KB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Units, PercentagesArePartsOfOne) {
  EXPECT_DOUBLE_EQ(parse_percentage("0.1%").value(), 0.001);
  EXPECT_EQ(parse_percentage("100%"), 1.0);
  EXPECT_EQ(parse_percentage("0%"), 0.0);
  for (const char* text : {"", "1", "100.1%", "-1%", "1%%"}) {
    EXPECT_EQ(parse_percentage(text), std::nullopt) << text;
  }
}

TEST(Words, ErrorsAreKnownByTheirNames) {
  EXPECT_EQ(parse_error_name("EPERM"), EPERM);
  EXPECT_EQ(parse_error_name("ETIMEDOUT"), ETIMEDOUT);
  EXPECT_EQ(parse_error_name("EHWPOISON"), EHWPOISON);
  EXPECT_EQ(parse_error_name("eperm"), std::nullopt);
  EXPECT_EQ(parse_error_name("110"), std::nullopt);
  EXPECT_EQ(parse_error_name(""), std::nullopt);
}

TEST(Words, EveryCompletionStatusHasOne) {
  int expected = IBV_WC_SUCCESS;
  for (const Word<int>& status : completion_status_words()) {
    EXPECT_EQ(status.meaning, expected++) << status.word;
  }
  EXPECT_EQ(expected, IBV_WC_GENERAL_ERR + 1);
}

}  // namespace
}  // namespace rocelane::softverbs
