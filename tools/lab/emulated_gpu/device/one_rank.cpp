#include "device/one_rank.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "device/arithmetic.h"

namespace rocelane::lab {
namespace {

constexpr std::string_view kKernel = "oneRankReduceI13FuncPreMulSumI";

// Element types as the Itanium ABI mangles them.
constexpr std::array kTypes = {
    std::pair<std::string_view, ElementType>{"aE", ElementType::kInt8},
    std::pair<std::string_view, ElementType>{"hE", ElementType::kUint8},
    std::pair<std::string_view, ElementType>{"iE", ElementType::kInt32},
    std::pair<std::string_view, ElementType>{"jE", ElementType::kUint32},
    std::pair<std::string_view, ElementType>{"lE", ElementType::kInt64},
    std::pair<std::string_view, ElementType>{"mE", ElementType::kUint64},
    std::pair<std::string_view, ElementType>{"6__halfE", ElementType::kFloat16},
    std::pair<std::string_view, ElementType>{"fE", ElementType::kFloat32},
    std::pair<std::string_view, ElementType>{"dE", ElementType::kFloat64},
    std::pair<std::string_view, ElementType>{"13__nv_bfloat16E", ElementType::kBfloat16},
};

std::optional<ElementType> element_of(std::string_view symbol) {
  const size_t at = symbol.find(kKernel);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view type = symbol.substr(at + kKernel.size());
  for (const auto& [mangled, element] : kTypes) {
    if (type.starts_with(mangled)) {
      return element;
    }
  }
  return std::nullopt;
}

template <class T>
T value_at(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

}  // namespace

bool is_one_rank_kernel(std::string_view mangled_symbol) {
  return mangled_symbol.find(kKernel) != std::string_view::npos;
}

std::function<void()> one_rank_kernel(std::string_view mangled_symbol, void* const* arguments) {
  const std::optional<ElementType> element = element_of(mangled_symbol);
  if (!element) {
    return {};
  }
  auto* const destination = value_at<std::byte*>(arguments[0]);
  const auto* const source = value_at<const std::byte*>(arguments[1]);
  const auto count = value_at<size_t>(arguments[2]);
  const auto factor = value_at<uint64_t>(arguments[3]);
  const bool is_address = value_at<bool>(arguments[4]);
  return [=] {
    constexpr Operation kOperation = Operation::kPreMultipliedSum;
    const uint64_t argument =
        is_address ? load_argument(kOperation, *element, reinterpret_cast<const void*>(factor))
                   : factor;
    if (const auto arithmetic = arithmetic_for(kOperation, *element, argument)) {
      reduce_copy(*arithmetic, std::array{source}, std::array{destination}, count, true, true);
    }
  };
}

}  // namespace rocelane::lab
