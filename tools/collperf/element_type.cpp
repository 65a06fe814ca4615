#include "collperf/element_type.h"

#include <bit>

namespace rocelane::collperf {

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return "int8";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kUint32:
      return "uint32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kUint64:
      return "uint64";
    case ElementType::kHalf:
      return "half";
    case ElementType::kFloat:
      return "float";
    case ElementType::kDouble:
      return "double";
    case ElementType::kBfloat16:
      break;
  }
  return "bfloat16";
}

size_t size_of(ElementType type) {
  return with_element_type(type,
                           []<class T>(std::type_identity<T>) -> size_t { return sizeof(T); });
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const ElementType type : kAllElementTypes) {
    if (name_of(type) == name) {
      return type;
    }
  }
  return std::nullopt;
}

Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  const auto with_sign = [sign](uint32_t rest) { return Half{static_cast<uint16_t>(sign | rest)}; };
  constexpr uint32_t kFloatInfinity = 0x7f800000U;
  constexpr uint32_t kHalfInfinity = 0x7c00U;
  constexpr uint32_t kRoundsToHalfInfinity = 0x477ff000U;  // 65520.0F
  constexpr uint32_t kSmallestNormalHalf = 0x38800000U;    // 2^-14
  constexpr uint32_t kRoundsToZero = 0x33000000U;          // 2^-25
  if (magnitude > kFloatInfinity) {
    return with_sign(kHalfInfinity | 0x200U);
  }
  if (magnitude >= kRoundsToHalfInfinity) {
    return with_sign(kHalfInfinity);
  }
  const auto round_off = [](uint32_t mantissa, uint32_t dropped_bits) {
    const uint32_t kept = mantissa >> dropped_bits;
    const uint32_t dropped = mantissa & ((1U << dropped_bits) - 1U);
    const uint32_t half_way = 1U << (dropped_bits - 1U);
    const bool up = dropped > half_way || (dropped == half_way && (kept & 1U) != 0);
    return kept + (up ? 1U : 0U);
  };
  if (magnitude >= kSmallestNormalHalf) {
    // A carry out of the mantissa moves into the exponent, which is what rounding up means there.
    return with_sign(round_off(magnitude - ((127U - 15U) << 23), 13));
  }
  if (magnitude <= kRoundsToZero) {
    return with_sign(0);
  }
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  return with_sign(round_off(mantissa, 126U - exponent));
}

Bfloat16 to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return Bfloat16{static_cast<uint16_t>((bits >> 16) | 0x40U)};
  }
  const uint32_t ties_to_even = 0x7fffU + ((bits >> 16) & 1U);
  return Bfloat16{static_cast<uint16_t>((bits + ties_to_even) >> 16)};
}

float to_float(Half value) {
  const uint32_t sign = (value.bits & 0x8000U) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1fU;
  const uint32_t mantissa = value.bits & 0x3ffU;
  if (exponent == 0x1fU) {
    return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  }
  if (exponent == 0) {
    constexpr float kSmallestHalf = 0x1p-24F;
    const float magnitude = static_cast<float>(mantissa) * kSmallestHalf;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 127U - 15U) << 23) | (mantissa << 13));
}

float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

}  // namespace rocelane::collperf
