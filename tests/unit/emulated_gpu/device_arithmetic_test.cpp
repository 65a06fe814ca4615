#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "device/arithmetic.h"
#include "device/element.h"

namespace rocelane::lab {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
uint64_t as_argument(T value) {
  uint64_t argument = 0;
  std::memcpy(&argument, &value, sizeof value);
  return argument;
}

// One source after the other, through the loops under test.
template <class T>
std::vector<T> reduce(Operation operation, ElementType type, uint64_t argument,
                      const std::vector<std::vector<T>>& sources, bool own_first = true,
                      bool finished = true) {
  const auto arithmetic = arithmetic_for(operation, type, argument);
  if (!arithmetic) {
    ADD_FAILURE() << "not emulated";
    return {};
  }
  std::vector<const std::byte*> from;
  for (const auto& source : sources) {
    from.push_back(reinterpret_cast<const std::byte*>(source.data()));
  }
  std::vector<T> result(sources[0].size());
  const std::array to = {reinterpret_cast<std::byte*>(result.data())};
  reduce_copy(*arithmetic, from, to, result.size(), own_first, finished);
  return result;
}

template <class T>
T reduce_one(Operation operation, ElementType type, uint64_t argument, T a, T b) {
  return reduce<T>(operation, type, argument, {{a}, {b}})[0];
}

float reduce_half(Operation operation, uint64_t argument, float a, float b) {
  return to_float(
      reduce_one(operation, ElementType::kFloat16, argument, to_float16(a), to_float16(b)));
}

float reduce_brain(Operation operation, uint64_t argument, float a, float b) {
  return to_float(
      reduce_one(operation, ElementType::kBfloat16, argument, to_bfloat16(a), to_bfloat16(b)));
}

constexpr uint64_t kFloatMinimum = 0;
constexpr uint64_t kFloatMaximum = ~uint64_t{0};

TEST(DeviceArithmetic, IntegersWrapAroundInSumsAndProducts) {
  EXPECT_EQ(reduce_one<uint8_t>(Operation::kSum, ElementType::kUint8, 0, 250, 10), 4);
  EXPECT_EQ(reduce_one<uint8_t>(Operation::kProduct, ElementType::kUint8, 0, 200, 200), 64);
  EXPECT_EQ(reduce_one<int8_t>(Operation::kSum, ElementType::kInt8, 0, 127, 1), -128);
  EXPECT_EQ(reduce_one<int32_t>(Operation::kSum, ElementType::kInt32, 0, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(reduce_one<int32_t>(Operation::kProduct, ElementType::kInt32, 0, 1 << 30, 6),
            INT32_MIN);
  EXPECT_EQ(reduce_one<int64_t>(Operation::kSum, ElementType::kInt64, 0, INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(reduce_one<uint64_t>(Operation::kProduct, ElementType::kUint64, 0, UINT64_MAX, 3),
            UINT64_MAX - 2);
}

TEST(DeviceArithmetic, TheMaskOfAnIntegerMinimumOrMaximumSetsItsOrder) {
  constexpr uint64_t kSign = 0x80000000;
  constexpr uint64_t kAll = 0xffffffff;
  const auto signed_of = [](uint64_t mask) {
    return reduce_one<int32_t>(Operation::kMinMax, ElementType::kInt32, mask, -5, 3);
  };
  EXPECT_EQ(signed_of(kSign), -5);
  EXPECT_EQ(signed_of(kSign ^ kAll), 3);
  const auto unsigned_of = [](uint64_t mask) {
    return reduce_one<uint32_t>(Operation::kMinMax, ElementType::kUint32, mask, 0xfffffffb, 3);
  };
  EXPECT_EQ(unsigned_of(0), 3U);
  EXPECT_EQ(unsigned_of(kAll), 0xfffffffbU);
  EXPECT_EQ(reduce_one<int8_t>(Operation::kMinMax, ElementType::kInt8, 0x80, -128, 127), -128);
  EXPECT_EQ(
      reduce_one<int64_t>(Operation::kMinMax, ElementType::kInt64, uint64_t{1} << 63, INT64_MIN, 0),
      INT64_MIN);
}

TEST(DeviceArithmetic, AnIntegerAverageDividesOnceAtTheEndTowardsZero) {
  const auto argument = [](uint64_t ranks, bool is_signed) { return ranks << 1 | is_signed; };
  EXPECT_EQ(reduce_one<int32_t>(Operation::kSumThenDivide, ElementType::kInt32, argument(2, true),
                                -4, -3),
            -3);
  EXPECT_EQ(
      reduce_one<int8_t>(Operation::kSumThenDivide, ElementType::kInt8, argument(3, true), -128, 0),
      -42);
  EXPECT_EQ(reduce_one<uint8_t>(Operation::kSumThenDivide, ElementType::kUint8, argument(3, false),
                                255, 0),
            85);
  EXPECT_EQ(reduce_one<uint64_t>(Operation::kSumThenDivide, ElementType::kUint64,
                                 argument(7, false), UINT64_MAX, 0),
            UINT64_MAX / 7);
  EXPECT_EQ(reduce_one<int64_t>(Operation::kSumThenDivide, ElementType::kInt64, argument(1, true),
                                INT64_MIN, 0),
            INT64_MIN);
  const std::vector<int32_t> unfinished =
      reduce<int32_t>(Operation::kSumThenDivide, ElementType::kInt32, argument(2, true),
                      {{10}, {4}}, true, /*finished=*/false);
  EXPECT_EQ(unfinished[0], 14);
}

TEST(DeviceArithmetic, OnlyTheOwnContributionIsMultipliedBeforeASum) {
  const uint64_t half = as_argument(0.5F);
  EXPECT_EQ(reduce_one(Operation::kPreMultipliedSum, ElementType::kFloat32, half, 6.0F, 10.0F),
            13.0F);
  const std::vector<float> passing_through =
      reduce<float>(Operation::kPreMultipliedSum, ElementType::kFloat32, half, {{6}, {10}},
                    /*own_first=*/false);
  EXPECT_EQ(passing_through[0], 16.0F);
  EXPECT_EQ(reduce_one<int32_t>(Operation::kPreMultipliedSum, ElementType::kInt32,
                                as_argument(int32_t{-3}), 5, 1),
            -14);
  EXPECT_EQ(reduce_half(Operation::kPreMultipliedSum, as_argument(to_float16(2)), 3, 4), 10.0F);
  EXPECT_EQ(reduce_brain(Operation::kPreMultipliedSum, as_argument(to_bfloat16(2)), 3, 4), 10.0F);
}

TEST(DeviceArithmetic, AnArgumentInMemoryIsReadInTheElementsWidth) {
  const std::array<uint16_t, 2> halves = {to_float16(3).bits, 0xffff};
  EXPECT_EQ(load_argument(Operation::kPreMultipliedSum, ElementType::kFloat16, halves.data()),
            halves[0]);
  const double wide = 2.5;
  EXPECT_EQ(load_argument(Operation::kPreMultipliedSum, ElementType::kFloat64, &wide),
            std::bit_cast<uint64_t>(wide));
}

TEST(DeviceArithmetic, ANanGivesWayToANumberInMinimumAndMaximum) {
  for (const uint64_t which : {kFloatMinimum, kFloatMaximum}) {
    EXPECT_EQ(reduce_one(Operation::kMinMax, ElementType::kFloat32, which, kNan, 2.0F), 2.0F);
    EXPECT_EQ(reduce_one(Operation::kMinMax, ElementType::kFloat32, which, 2.0F, kNan), 2.0F);
    EXPECT_TRUE(
        std::isnan(reduce_one(Operation::kMinMax, ElementType::kFloat32, which, kNan, kNan)));
    EXPECT_EQ(reduce_half(Operation::kMinMax, which, kNan, 2.0F), 2.0F);
    EXPECT_EQ(reduce_brain(Operation::kMinMax, which, 2.0F, kNan), 2.0F);
  }
}

TEST(DeviceArithmetic, MinusZeroIsBelowPlusZero) {
  for (const bool minus_first : {true, false}) {
    const double a = minus_first ? -0.0 : 0.0;
    const double b = -a;
    EXPECT_TRUE(
        std::signbit(reduce_one(Operation::kMinMax, ElementType::kFloat64, kFloatMinimum, a, b)));
    EXPECT_FALSE(
        std::signbit(reduce_one(Operation::kMinMax, ElementType::kFloat64, kFloatMaximum, a, b)));
  }
}

TEST(DeviceArithmetic, MinimumAndMaximumHoldForEveryFloatWidth) {
  for (const auto& [a, b] : {std::pair{1.5F, -2.0F}, {-2.0F, 1.5F}, {-kInfinity, kInfinity}}) {
    EXPECT_EQ(reduce_half(Operation::kMinMax, kFloatMinimum, a, b), std::min(a, b));
    EXPECT_EQ(reduce_half(Operation::kMinMax, kFloatMaximum, a, b), std::max(a, b));
    EXPECT_EQ(reduce_brain(Operation::kMinMax, kFloatMinimum, a, b), std::min(a, b));
    EXPECT_EQ(reduce_brain(Operation::kMinMax, kFloatMaximum, a, b), std::max(a, b));
    EXPECT_EQ(reduce_one(Operation::kMinMax, ElementType::kFloat32, kFloatMinimum, a, b),
              std::min(a, b));
    EXPECT_EQ(reduce_one(Operation::kMinMax, ElementType::kFloat32, kFloatMaximum, a, b),
              std::max(a, b));
  }
}

TEST(DeviceArithmetic, EveryOperationOnSixteenBitFloatsRoundsToNearestEven) {
  // 2048 is where whole numbers end in a half: 2049 is a tie, 2051 another one.
  EXPECT_EQ(reduce_half(Operation::kSum, 0, 2048, 1), 2048);
  EXPECT_EQ(reduce_half(Operation::kSum, 0, 2050, 1), 2052);
  EXPECT_EQ(reduce_half(Operation::kProduct, 0, 60000, 2), kInfinity);
  EXPECT_EQ(reduce_half(Operation::kSum, 0, 65504, 16), kInfinity);
  EXPECT_EQ(reduce_half(Operation::kSum, 0, 65504, 8), 65504);
  EXPECT_EQ(reduce_half(Operation::kProduct, 0, std::ldexp(1.0F, -12), std::ldexp(1.0F, -12)),
            std::ldexp(1.0F, -24));
  EXPECT_EQ(reduce_half(Operation::kProduct, 0, std::ldexp(1.0F, -12), std::ldexp(1.0F, -13)), 0);
  EXPECT_EQ(reduce_brain(Operation::kSum, 0, 256, 1), 256);
  EXPECT_EQ(reduce_brain(Operation::kSum, 0, 258, 1), 260);
  // Each addition rounds: a wider accumulator would have come to 260.
  const std::vector<Bfloat16> ones = {to_bfloat16(1)};
  const std::vector<Bfloat16> base = {to_bfloat16(256)};
  EXPECT_EQ(to_float(reduce<Bfloat16>(Operation::kSum, ElementType::kBfloat16, 0,
                                      {base, ones, ones, ones, ones})[0]),
            256);
}

TEST(DeviceArithmetic, EveryHalfSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const float value = to_float(half);
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(std::isnan(value), is_nan) << bits;
    if (!is_nan) {
      ASSERT_EQ(to_float16(value).bits, bits);
      const int exponent = static_cast<int>(bits >> 10 & 31);
      const auto mantissa = static_cast<float>(bits & 1023);
      if (exponent != 31) {
        const float magnitude =
            exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        ASSERT_EQ(value, (bits & 0x8000) != 0 ? -magnitude : magnitude) << bits;
      }
    }
  }
}

TEST(DeviceArithmetic, FloatsBetweenTwoHalvesGoToTheNearerOrTheEvenOne) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = to_float(Float16{static_cast<uint16_t>(bits)});
    const float high = to_float(Float16{static_cast<uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(to_float16(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(to_float16(std::nextafter(middle, -kInfinity)).bits, bits);
    ASSERT_EQ(to_float16(std::nextafter(middle, kInfinity)).bits, bits + 1);
  }
}

TEST(DeviceArithmetic, ManySourcesReachManyDestinationsAcrossBlockBorders) {
  constexpr size_t kCount = 20'011;
  std::vector<std::vector<double>> sources(4, std::vector<double>(kCount));
  for (size_t s = 0; s < sources.size(); ++s) {
    for (size_t i = 0; i < kCount; ++i) {
      sources[s][i] = static_cast<double>(s * kCount + i);
    }
  }
  std::vector<const std::byte*> from;
  for (const auto& source : sources) {
    from.push_back(reinterpret_cast<const std::byte*>(source.data()));
  }
  std::vector<std::vector<double>> results(3, std::vector<double>(kCount));
  std::vector<std::byte*> to;
  for (auto& result : results) {
    to.push_back(reinterpret_cast<std::byte*>(result.data()));
  }
  reduce_copy(*arithmetic_for(Operation::kSum, ElementType::kFloat64, 0), from, to, kCount, true,
              true);
  for (const auto& result : results) {
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(result[i], static_cast<double>(6 * kCount + 4 * i));
    }
  }
}

TEST(DeviceArithmetic, TheResultMayReplaceTheOwnInput) {
  std::vector<float> own(5'000, 1.0F);
  const std::vector<float> other(own.size(), 2.0F);
  const std::array from = {reinterpret_cast<const std::byte*>(own.data()),
                           reinterpret_cast<const std::byte*>(other.data())};
  const std::array to = {reinterpret_cast<std::byte*>(own.data())};
  reduce_copy(*arithmetic_for(Operation::kSum, ElementType::kFloat32, 0), from, to, own.size(),
              true, true);
  EXPECT_EQ(own, std::vector<float>(own.size(), 3.0F));
}

TEST(DeviceArithmetic, EightBitFloatsAreRefused) {
  EXPECT_FALSE(arithmetic_for(Operation::kSum, ElementType::kFloat8E4m3, 0));
  EXPECT_FALSE(element_bytes(ElementType::kFloat8E5m2));
}

}  // namespace
}  // namespace rocelane::lab
