#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace rocelane::collperf {

enum class ElementType : uint8_t {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kBfloat16,
};

inline constexpr std::array kAllElementTypes{
    ElementType::kInt8,   ElementType::kUint8,   ElementType::kInt32, ElementType::kUint32,
    ElementType::kInt64,  ElementType::kUint64,  ElementType::kHalf,  ElementType::kFloat,
    ElementType::kDouble, ElementType::kBfloat16};

std::string_view name_of(ElementType type);
size_t size_of(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name);

// The two 16-bit formats have no C++20 type; these hold their bits.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

Half to_half(float value);  // rounds to nearest, ties to even
Bfloat16 to_bfloat16(float value);
float to_float(Half value);
float to_float(Bfloat16 value);

// Calls `function(std::type_identity<T>{})` with the C++ type of `type`.
template <class Function>
decltype(auto) with_element_type(ElementType type, Function&& function) {
  switch (type) {
    case ElementType::kInt8:
      return function(std::type_identity<int8_t>{});
    case ElementType::kUint8:
      return function(std::type_identity<uint8_t>{});
    case ElementType::kInt32:
      return function(std::type_identity<int32_t>{});
    case ElementType::kUint32:
      return function(std::type_identity<uint32_t>{});
    case ElementType::kInt64:
      return function(std::type_identity<int64_t>{});
    case ElementType::kUint64:
      return function(std::type_identity<uint64_t>{});
    case ElementType::kHalf:
      return function(std::type_identity<Half>{});
    case ElementType::kFloat:
      return function(std::type_identity<float>{});
    case ElementType::kDouble:
      return function(std::type_identity<double>{});
    case ElementType::kBfloat16:
      break;
  }
  return function(std::type_identity<Bfloat16>{});
}

}  // namespace rocelane::collperf
