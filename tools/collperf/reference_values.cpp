#include "collperf/reference_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

namespace rocelane::collperf {
namespace {

constexpr int kLargestPremultiplier = 3;
// Powers of two a product may pick up: half has normal numbers from 2^-14 to 2^15.
constexpr uint64_t kLargestProductExponent = 12;

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<Half> {
  static constexpr int kSignificandBits = 11;
};
template <>
struct FloatFormat<Bfloat16> {
  static constexpr int kSignificandBits = 8;
};
template <>
struct FloatFormat<float> {
  static constexpr int kSignificandBits = 24;
};
template <>
struct FloatFormat<double> {
  static constexpr int kSignificandBits = 53;
};

template <class T>
T encode(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
double decode(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return static_cast<double>(to_float(value));
  } else {
    return static_cast<double>(value);
  }
}

uint64_t scramble(uint64_t seed, uint64_t rank, uint64_t index) {
  uint64_t x = seed * 0x9e3779b97f4a7c15U + rank * 0xd1342543de82ef95U + index;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 29)) * 0xa0761d6478bd642fU;
  return x ^ (x >> 32);
}

// A number in [0, bound), without a division.
uint64_t pick(uint64_t random, uint64_t bound) { return ((random >> 32) * bound) >> 32; }

// How many ranks may contribute how much so that no partial result leaves what is exact.
// With more ranks than units, only every `stride`-th rank contributes, another one per element.
struct Share {
  uint64_t bound = 1;
  uint64_t stride = 1;

  bool contributes(int rank, uint64_t index) const {
    return stride == 1 || (static_cast<uint64_t>(rank) + index) % stride == 0;
  }
};

Share share_of(uint64_t limit, int ranks) {
  const uint64_t rank_count = static_cast<uint64_t>(ranks);
  if (rank_count <= limit) {
    return {std::min<uint64_t>(limit / rank_count, 1U << 30), 1};
  }
  return {1, (rank_count + limit - 1) / limit};
}

template <class T>
class Inputs {
 public:
  explicit Inputs(const Dataset& dataset) : dataset_(dataset), share_(choose_share(dataset)) {}

  T at(int rank, uint64_t index) const {
    const uint64_t random = scramble(dataset_.seed, static_cast<uint64_t>(rank), index);
    if (!dataset_.op) {
      return raw_bits(random);
    }
    if constexpr (kIsInteger<T>) {
      return integer_at(rank, index, random);
    } else {
      return encode<T>(*dataset_.op == ReduceOp::kProd
                           ? factor_at(rank, index, random)
                           : static_cast<double>(whole_at(rank, index, random)));
    }
  }

  // The float input as the whole number it is; not for products.
  int64_t whole_at(int rank, uint64_t index) const {
    return whole_at(rank, index, scramble(dataset_.seed, static_cast<uint64_t>(rank), index));
  }

  double factor_at(int rank, uint64_t index) const {
    return factor_at(rank, index, scramble(dataset_.seed, static_cast<uint64_t>(rank), index));
  }

 private:
  static Share choose_share(const Dataset& dataset) {
    if (!dataset.op) {
      return {};
    }
    const ReduceOp op = *dataset.op;
    if constexpr (kIsInteger<T>) {
      return share_of(static_cast<uint64_t>(std::numeric_limits<T>::max()), dataset.ranks);
    } else {
      const uint64_t exact = uint64_t{1} << FloatFormat<T>::kSignificandBits;
      switch (op) {
        case ReduceOp::kProd:
          return share_of(kLargestProductExponent, dataset.ranks);
        case ReduceOp::kMin:
        case ReduceOp::kMax:
          return share_of(exact, 1);
        case ReduceOp::kMulSum:
          return share_of(exact / kLargestPremultiplier, dataset.ranks);
        case ReduceOp::kSum:
        case ReduceOp::kAvg:
          break;
      }
      return share_of(exact, dataset.ranks);
    }
  }

  static T raw_bits(uint64_t random) {
    T value;
    std::memcpy(&value, &random, sizeof(T));
    return value;
  }

  T integer_at(int rank, uint64_t index, uint64_t random) const {
    if (*dataset_.op == ReduceOp::kProd) {
      return static_cast<T>(random | 1U);  // odd: a product of these never collapses to zero
    }
    if (*dataset_.op != ReduceOp::kAvg) {
      return static_cast<T>(random);
    }
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(whole_at(rank, index, random));
    } else {
      return share_.contributes(rank, index) ? static_cast<T>(pick(random, share_.bound + 1))
                                             : T{0};
    }
  }

  int64_t whole_at(int rank, uint64_t index, uint64_t random) const {
    if (!share_.contributes(rank, index)) {
      return 0;
    }
    return static_cast<int64_t>(pick(random, 2 * share_.bound + 1)) -
           static_cast<int64_t>(share_.bound);
  }

  double factor_at(int rank, uint64_t index, uint64_t random) const {
    double factor = (random & 1U) != 0 ? -1.0 : 1.0;
    if (share_.contributes(rank, index)) {
      factor *= (random & 2U) != 0 ? 2.0 : 0.5;
    }
    const uint64_t odd_one = scramble(~dataset_.seed, 0, index);
    if (pick(odd_one, static_cast<uint64_t>(dataset_.ranks)) == static_cast<uint64_t>(rank)) {
      factor *= 1.5;
    }
    return factor;
  }

  const Dataset& dataset_;
  Share share_;
};

template <class T>
using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

template <class T>
T expected_integer(const Inputs<T>& inputs, const Dataset& dataset, uint64_t index) {
  const ReduceOp op = *dataset.op;
  T extreme = inputs.at(0, index);
  uint64_t sum = 0;
  uint64_t weighted_sum = 0;
  uint64_t product = 1;
  for (int rank = 0; rank < dataset.ranks; ++rank) {
    const T value = inputs.at(rank, index);
    const uint64_t extended = static_cast<uint64_t>(value);  // sign-extended: right modulo 2^64
    sum += extended;
    weighted_sum += extended * static_cast<uint64_t>(premultiplier(rank));
    product *= extended;
    extreme = op == ReduceOp::kMin ? std::min(extreme, value) : std::max(extreme, value);
  }
  switch (op) {
    case ReduceOp::kSum:
      return static_cast<T>(sum);
    case ReduceOp::kProd:
      return static_cast<T>(product);
    case ReduceOp::kMulSum:
      return static_cast<T>(weighted_sum);
    case ReduceOp::kAvg:
      return static_cast<T>(Widest<T>{static_cast<T>(sum)} / static_cast<Widest<T>>(dataset.ranks));
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      break;
  }
  return extreme;
}

// An exact value, or for averages a value and how far off correct arithmetic may end.
struct ExpectedFloat {
  long double value = 0;
  long double tolerance = 0;
};

template <class T>
long double average_error_growth(int ranks) {
  if (std::has_single_bit(static_cast<unsigned>(ranks))) {
    return 0;
  }
  // NCCL rounds 1/ranks (by way of float: twice), each product with it, and each of the ranks - 1
  // additions: a term passes at most ranks + 2 roundings, each off by at most 2^-bits of it.
  const double unit = std::ldexp(1.0, -FloatFormat<T>::kSignificandBits);
  return static_cast<long double>(std::expm1((ranks + 2) * std::log1p(unit)));
}

template <class T>
ExpectedFloat expected_float(const Inputs<T>& inputs, const Dataset& dataset, uint64_t index) {
  const ReduceOp op = *dataset.op;
  if (op == ReduceOp::kProd) {
    double product = 1;
    for (int rank = 0; rank < dataset.ranks; ++rank) {
      product *= inputs.factor_at(rank, index);
    }
    return {static_cast<long double>(product), 0};
  }
  int64_t extreme = inputs.whole_at(0, index);
  int64_t sum = 0;
  int64_t weighted_sum = 0;
  int64_t magnitudes = 0;
  for (int rank = 0; rank < dataset.ranks; ++rank) {
    const int64_t value = inputs.whole_at(rank, index);
    sum += value;
    weighted_sum += value * premultiplier(rank);
    magnitudes += std::abs(value);
    extreme = op == ReduceOp::kMin ? std::min(extreme, value) : std::max(extreme, value);
  }
  const auto ranks = static_cast<long double>(dataset.ranks);
  switch (op) {
    case ReduceOp::kSum:
      return {static_cast<long double>(sum), 0};
    case ReduceOp::kMulSum:
      return {static_cast<long double>(weighted_sum), 0};
    case ReduceOp::kAvg:
      return {static_cast<long double>(sum) / ranks, static_cast<long double>(magnitudes) / ranks *
                                                         average_error_growth<T>(dataset.ranks)};
    case ReduceOp::kProd:
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      break;
  }
  return {static_cast<long double>(extreme), 0};
}

template <class T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
std::string in_hex(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return fmt::format("0x{:0{}x}", bits, 2 * sizeof(T));
}

template <class T>
Mismatches compare_reduction(const Dataset& dataset, size_t first, std::span<const std::byte> got) {
  const Inputs<T> inputs(dataset);
  Mismatches mismatches;
  for (size_t i = 0; i < got.size() / sizeof(T); ++i) {
    const T found = load<T>(got, i);
    if constexpr (kIsInteger<T>) {
      const T expected = expected_integer(inputs, dataset, first + i);
      if (found != expected) {
        mismatches.note([&] {
          return fmt::format("element {} of the result is {}, expected {}", first + i, found,
                             expected);
        });
      }
    } else {
      const ExpectedFloat expected = expected_float(inputs, dataset, first + i);
      const long double error = std::abs(static_cast<long double>(decode(found)) - expected.value);
      const bool within = error <= expected.tolerance;  // false for a NaN
      if (!within) {
        mismatches.note([&] {
          return fmt::format("element {} of the result is {}, expected {} within {}", first + i,
                             decode(found), static_cast<double>(expected.value),
                             static_cast<double>(expected.tolerance));
        });
      }
    }
  }
  return mismatches;
}

template <class T>
Mismatches compare_input(const Dataset& dataset, int rank, size_t first,
                         std::span<const std::byte> got) {
  const Inputs<T> inputs(dataset);
  Mismatches mismatches;
  for (size_t i = 0; i < got.size() / sizeof(T); ++i) {
    const T expected = inputs.at(rank, first + i);
    if (std::memcmp(got.data() + i * sizeof(T), &expected, sizeof(T)) != 0) {
      mismatches.note([&] {
        return fmt::format("element {} from rank {} arrived as {}, expected {}", first + i, rank,
                           in_hex(load<T>(got, i)), in_hex(expected));
      });
    }
  }
  return mismatches;
}

}  // namespace

std::string_view name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kProd:
      return "prod";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kAvg:
      return "avg";
    case ReduceOp::kMulSum:
      break;
  }
  return "mulsum";
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (const ReduceOp op : kAllReduceOps) {
    if (name_of(op) == name) {
      return op;
    }
  }
  return std::nullopt;
}

void Mismatches::add(Mismatches other) {
  if (count == 0) {
    first = std::move(other.first);
  }
  count += other.count;
}

void fill_input(const Dataset& dataset, int rank, size_t first, std::span<std::byte> out) {
  with_element_type(dataset.type, [&]<class T>(std::type_identity<T>) {
    const Inputs<T> inputs(dataset);
    for (size_t i = 0; i < out.size() / sizeof(T); ++i) {
      const T value = inputs.at(rank, first + i);
      std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

Mismatches compare_with_input(const Dataset& dataset, int rank, size_t first,
                              std::span<const std::byte> got) {
  return with_element_type(dataset.type, [&]<class T>(std::type_identity<T>) {
    return compare_input<T>(dataset, rank, first, got);
  });
}

Mismatches compare_with_reduction(const Dataset& dataset, size_t first,
                                  std::span<const std::byte> got) {
  return with_element_type(dataset.type, [&]<class T>(std::type_identity<T>) {
    return compare_reduction<T>(dataset, first, got);
  });
}

int premultiplier(int rank) { return 1 + rank % kLargestPremultiplier; }

std::array<std::byte, 8> premultiplier_bits(ElementType type, int rank) {
  std::array<std::byte, 8> bits{};
  with_element_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (kIsInteger<T>) {
      const T value = static_cast<T>(premultiplier(rank));
      std::memcpy(bits.data(), &value, sizeof(T));
    } else {
      const T value = encode<T>(premultiplier(rank));
      std::memcpy(bits.data(), &value, sizeof(T));
    }
  });
  return bits;
}

}  // namespace rocelane::collperf
