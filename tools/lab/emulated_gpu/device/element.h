#pragma once

#include <bit>
#include <cstdint>

namespace rocelane::lab {

// The 16-bit floats, computed through float: for one addition or multiplication of two of them,
// rounding the float result once more gives the correctly rounded 16-bit result.
struct Float16 {
  uint16_t bits;
};

struct Bfloat16 {
  uint16_t bits;
};

// Written without branches on purpose: these run inside vectorised loops.
inline float to_float(Float16 value) {
  constexpr uint32_t kRebias = 0x77800000;  // 2^112: from half's exponent bias to float's
  const uint32_t magnitude = value.bits & 0x7fffU;
  const uint32_t sign = (value.bits & 0x8000U) << 16;
  const float scaled = std::bit_cast<float>(magnitude << 13) * std::bit_cast<float>(kRebias);
  const uint32_t special = magnitude >= 0x7c00U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
}

inline Float16 to_float16(float value) {
  constexpr uint32_t kInfinity = 0x7f800000;
  constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  // Adding 0.5 moves the last bit of a half subnormal to the last bit of the float, which rounds.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const uint32_t rounded = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  const uint32_t normal = rounded > 0x7c00U ? 0x7c00U : rounded;
  const uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
  const uint32_t infinite_or_nan = magnitude > kInfinity ? 0x7fffU : 0x7c00U;
  return {static_cast<uint16_t>((magnitude >= kInfinity ? infinite_or_nan : finite) | sign)};
}

inline float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

inline Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return {static_cast<uint16_t>(is_nan ? 0x7fffU : rounded)};
}

}  // namespace rocelane::lab
