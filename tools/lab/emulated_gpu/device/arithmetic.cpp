#include "device/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "device/element.h"

namespace rocelane::lab {
namespace {

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;

template <class T>
T from_argument(uint64_t argument) {
  T value;
  std::memcpy(&value, &argument, sizeof value);
  return value;
}

// C++ promotes small integers to int, where a product may overflow; unsigned wraps as the GPU does.
template <class T>
T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
T wrapping_multiply(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
T add(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return wrapping_add(a, b);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(to_float(a) + to_float(b));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_bfloat16(to_float(a) + to_float(b));
  } else {
    return a + b;
  }
}

template <class T>
T multiply(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return wrapping_multiply(a, b);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(to_float(a) * to_float(b));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_bfloat16(to_float(a) * to_float(b));
  } else {
    return a * b;
  }
}

// As the GPU orders floats: a NaN gives way to a number, and -0 is below +0.
template <bool kMinimum, class F>
F float_min_max(F a, F b) {
  using Bits = std::conditional_t<sizeof(F) == 8, int64_t, int32_t>;
  const bool a_is_negative = std::bit_cast<Bits>(a) < 0;
  const bool a_is_below = (a < b) | ((a == b) & a_is_negative);
  const F winner = a_is_below == kMinimum ? a : b;
  return a != a ? b : (b != b ? a : winner);
}

template <class T>
struct Sum {
  explicit Sum(uint64_t) {}
  T operator()(T a, T b) const { return add(a, b); }
};

template <class T>
struct Product {
  explicit Product(uint64_t) {}
  T operator()(T a, T b) const { return multiply(a, b); }
};

// Integers: the argument is a mask that turns the wanted order into "smallest unsigned".
template <class T>
struct IntegerMinMax {
  explicit IntegerMinMax(uint64_t argument) : mask(from_argument<T>(argument)) {}
  T operator()(T a, T b) const { return (a ^ mask) < (b ^ mask) ? a : b; }
  T mask;
};

// Floats: the argument's lowest bit asks for the maximum.
template <class T, bool kMinimum>
struct FloatMinMax {
  explicit FloatMinMax(uint64_t) {}
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return float_min_max<kMinimum>(a, b);
    } else {
      const float winner = float_min_max<kMinimum>(to_float(a), to_float(b));
      if constexpr (std::is_same_v<T, Float16>) {
        return to_float16(winner);
      } else {
        return to_bfloat16(winner);
      }
    }
  }
};

template <class T>
struct Multiply {
  explicit Multiply(uint64_t argument) : factor(from_argument<T>(argument)) {}
  T operator()(T value) const { return multiply(value, factor); }
  T factor;
};

// The argument is twice the divisor, plus one for signed elements. Division truncates.
template <class T>
struct Divide {
  explicit Divide(uint64_t argument)
      : divisor(static_cast<uint32_t>(argument) >> 1), is_signed((argument & 1) != 0) {}
  T operator()(T value) const {
    constexpr T kSignBit = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
    const bool negative = is_signed && (value & kSignBit) != 0;
    const T magnitude = negative ? wrapping_add<T>(static_cast<T>(~value), T{1}) : value;
    const T quotient = static_cast<T>(magnitude / divisor);
    return negative ? wrapping_add<T>(static_cast<T>(~quotient), T{1}) : quotient;
  }
  uint32_t divisor;
  bool is_signed;
};

template <class T, class Functor>
void combine_loop(std::byte* out, const std::byte* a, const std::byte* b, size_t elements,
                  uint64_t argument) {
  const Functor functor(argument);
  auto* to = reinterpret_cast<T*>(out);
  const auto* from_a = reinterpret_cast<const T*>(a);
  const auto* from_b = reinterpret_cast<const T*>(b);
#pragma GCC ivdep
  for (size_t i = 0; i < elements; ++i) {
    to[i] = functor(from_a[i], from_b[i]);
  }
}

template <class T, class Functor>
void scale_loop(std::byte* out, const std::byte* in, size_t elements, uint64_t argument) {
  const Functor functor(argument);
  auto* to = reinterpret_cast<T*>(out);
  const auto* from = reinterpret_cast<const T*>(in);
#pragma GCC ivdep
  for (size_t i = 0; i < elements; ++i) {
    to[i] = functor(from[i]);
  }
}

template <class T>
std::optional<Arithmetic> loops_for(Operation operation, uint64_t argument) {
  Arithmetic loops{.element_bytes = sizeof(T), .argument = argument};
  switch (operation) {
    case Operation::kSum:
      loops.combine = combine_loop<T, Sum<T>>;
      return loops;
    case Operation::kProduct:
      loops.combine = combine_loop<T, Product<T>>;
      return loops;
    case Operation::kMinMax:
      if constexpr (kIsInteger<T>) {
        loops.combine = combine_loop<T, IntegerMinMax<T>>;
      } else {
        loops.combine = (argument & 1) == 0 ? combine_loop<T, FloatMinMax<T, true>>
                                            : combine_loop<T, FloatMinMax<T, false>>;
      }
      return loops;
    case Operation::kPreMultipliedSum:
      loops.before = scale_loop<T, Multiply<T>>;
      loops.combine = combine_loop<T, Sum<T>>;
      return loops;
    case Operation::kSumThenDivide:
      if constexpr (kIsInteger<T>) {
        if (Divide<T>(argument).divisor == 0) {
          return std::nullopt;
        }
        loops.combine = combine_loop<T, Sum<T>>;
        loops.after = scale_loop<T, Divide<T>>;
        return loops;
      } else {
        return std::nullopt;
      }
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
      return 1;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFloat32:
      return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFloat64:
      return 8;
    case ElementType::kFloat8E4m3:
    case ElementType::kFloat8E5m2:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Arithmetic> arithmetic_for(Operation operation, ElementType type, uint64_t argument) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
      return loops_for<uint8_t>(operation, argument);
    case ElementType::kInt32:
    case ElementType::kUint32:
      return loops_for<uint32_t>(operation, argument);
    case ElementType::kInt64:
    case ElementType::kUint64:
      return loops_for<uint64_t>(operation, argument);
    case ElementType::kFloat16:
      return loops_for<Float16>(operation, argument);
    case ElementType::kBfloat16:
      return loops_for<Bfloat16>(operation, argument);
    case ElementType::kFloat32:
      return loops_for<float>(operation, argument);
    case ElementType::kFloat64:
      return loops_for<double>(operation, argument);
    case ElementType::kFloat8E4m3:
    case ElementType::kFloat8E5m2:
      return std::nullopt;
  }
  return std::nullopt;
}

uint64_t load_argument(Operation operation, ElementType type, const void* address) {
  uint64_t argument = 0;
  switch (operation) {
    case Operation::kSum:
    case Operation::kProduct:
      break;
    case Operation::kMinMax:
    case Operation::kPreMultipliedSum:
      std::memcpy(&argument, address, element_bytes(type).value_or(0));
      break;
    case Operation::kSumThenDivide:
      std::memcpy(&argument, address, sizeof argument);
      break;
  }
  return argument;
}

void reduce_copy(const Arithmetic& arithmetic, std::span<const std::byte* const> sources,
                 std::span<std::byte* const> destinations, size_t elements, bool own_first,
                 bool finished) {
  if (sources.empty() || destinations.empty()) {
    return;
  }
  // Small enough that a block stays in the first-level cache through all passes over it.
  constexpr size_t kBlockBytes = 8192;
  const size_t block = kBlockBytes / arithmetic.element_bytes;
  for (size_t done = 0; done < elements; done += block) {
    const size_t count = std::min(block, elements - done);
    const size_t offset = done * arithmetic.element_bytes;
    const size_t bytes = count * arithmetic.element_bytes;
    std::byte* result = destinations[0] + offset;
    const std::byte* so_far = sources[0] + offset;
    if (own_first && arithmetic.before != nullptr) {
      arithmetic.before(result, so_far, count, arithmetic.argument);
      so_far = result;
    }
    for (const std::byte* source : sources.subspan(1)) {
      arithmetic.combine(result, so_far, source + offset, count, arithmetic.argument);
      so_far = result;
    }
    if (finished && arithmetic.after != nullptr) {
      arithmetic.after(result, so_far, count, arithmetic.argument);
      so_far = result;
    }
    if (so_far != result) {
      std::memmove(result, so_far, bytes);
    }
    for (std::byte* destination : destinations.subspan(1)) {
      std::memcpy(destination + offset, result, bytes);
    }
  }
}

}  // namespace rocelane::lab
