#include "collperf/element_type.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace rocelane::collperf {
namespace {

TEST(ElementTypes, HaveTheNamesAndSizesOfNcclTests) {
  EXPECT_EQ(name_of(ElementType::kHalf), "half");
  EXPECT_EQ(size_of(ElementType::kHalf), 2U);
  EXPECT_EQ(size_of(ElementType::kBfloat16), 2U);
  EXPECT_EQ(size_of(ElementType::kInt8), 1U);
  EXPECT_EQ(size_of(ElementType::kDouble), 8U);
  for (const ElementType type : kAllElementTypes) {
    EXPECT_EQ(element_type_named(name_of(type)), type);
  }
  EXPECT_EQ(element_type_named("float32"), std::nullopt);
}

TEST(Half, KeepsEveryValueItCanHold) {
  for (uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = to_float(half);
    if (!std::isnan(value)) {
      ASSERT_EQ(to_half(value).bits, half.bits) << bits;
    } else {
      ASSERT_TRUE(std::isnan(to_float(to_half(value)))) << bits;
    }
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(to_float(to_half(2049.0F)), 2048.0F);
  EXPECT_EQ(to_float(to_half(2051.0F)), 2052.0F);
  EXPECT_EQ(to_float(to_half(2050.1F)), 2050.0F);
  EXPECT_EQ(to_float(to_half(65519.0F)), 65504.0F);
  EXPECT_TRUE(std::isinf(to_float(to_half(65520.0F))));
  EXPECT_EQ(to_float(to_half(0x1p-24F)), 0x1p-24F);
  EXPECT_EQ(to_float(to_half(0x1p-25F)), 0.0F);
  EXPECT_EQ(to_float(to_half(0x1.8p-25F)), 0x1p-24F);
  EXPECT_EQ(to_half(-0.0F).bits, 0x8000U);
}

TEST(Bfloat16, KeepsEveryValueItCanHoldAndRoundsTiesToEven) {
  for (uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const Bfloat16 value{static_cast<uint16_t>(bits)};
    if (!std::isnan(to_float(value))) {
      ASSERT_EQ(to_bfloat16(to_float(value)).bits, value.bits) << bits;
    }
  }
  EXPECT_EQ(to_float(to_bfloat16(257.0F)), 256.0F);
  EXPECT_EQ(to_float(to_bfloat16(259.0F)), 260.0F);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace rocelane::collperf
