#include "bench/memory_use.h"

#include <vector>

#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

TEST(MemoryUse, IsReadFromTheKernelsTable) {
  const MemoryUse use = parse_memory_use(
      "Name:\tx\nVmRSS:\t    9000 kB\nRssAnon:\t    1234 kB\nRssFile:\t 5 kB\nRssShmem:\t   8 "
      "kB\n");
  EXPECT_EQ(use.own, 1234U << 10);
  EXPECT_EQ(use.shared, 8U << 10);
}

TEST(MemoryUse, OfATableWithoutItIsZero) {
  EXPECT_EQ(parse_memory_use("Name:\tx\n").own, 0U);
  EXPECT_EQ(parse_memory_use("RssAnon:").own, 0U);
}

TEST(MemoryUse, GrowsWithWhatIsTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  const MemoryUse before = memory_use_now();
  const std::vector<char> touched(kBytes, 'x');
  EXPECT_EQ(touched.back(), 'x');
  EXPECT_GT(memory_use_now().own, before.own + kBytes / 2);
}

}  // namespace
}  // namespace rocelane::bench
