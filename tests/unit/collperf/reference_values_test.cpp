#include "collperf/reference_values.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using testing::HasSubstr;

constexpr size_t kCount = 200;
constexpr size_t kFirst = 1000;

template <class T>
constexpr bool kIsSixteenBitFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

// Arithmetic as a GPU does it, rounding after every step; written without the reference's help.
template <class T>
T rounded(float value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(value);
  } else {
    return to_bfloat16(value);
  }
}

template <class T, class Operation>
T in_type(T a, T b, Operation operation) {
  if constexpr (kIsSixteenBitFloat<T>) {
    return rounded<T>(operation(to_float(a), to_float(b)));
  } else if constexpr (std::is_integral_v<T>) {
    // Unsigned, so that wrapping is defined.
    return static_cast<T>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  } else {
    return operation(a, b);
  }
}

template <class T>
T combine(ReduceOp op, T a, T b) {
  const auto less = [](T x, T y) {
    if constexpr (kIsSixteenBitFloat<T>) {
      return to_float(x) < to_float(y);
    } else {
      return x < y;
    }
  };
  switch (op) {
    case ReduceOp::kProd:
      return in_type(a, b, [](auto x, auto y) { return x * y; });
    case ReduceOp::kMin:
      return less(b, a) ? b : a;
    case ReduceOp::kMax:
      return less(a, b) ? b : a;
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kMulSum:
      break;
  }
  return in_type(a, b, [](auto x, auto y) { return x + y; });
}

template <class T>
T scaled_before(ReduceOp op, ElementType type, int rank, int ranks, T value) {
  if (op == ReduceOp::kMulSum) {
    T scalar;
    std::memcpy(&scalar, premultiplier_bits(type, rank).data(), sizeof scalar);
    return in_type(value, scalar, [](auto x, auto y) { return x * y; });
  }
  if (op == ReduceOp::kAvg) {
    if constexpr (kIsSixteenBitFloat<T>) {
      const T scale = rounded<T>(static_cast<float>(1.0 / ranks));
      return in_type(value, scale, [](auto x, auto y) { return x * y; });
    } else if constexpr (!std::is_integral_v<T>) {
      return value * static_cast<T>(1.0 / ranks);
    }
  }
  return value;
}

template <class T>
T scaled_after(ReduceOp op, int ranks, T value) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kAvg) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>(Wide{value} / static_cast<Wide>(ranks));
    }
  }
  return value;
}

struct Case {
  ElementType type;
  ReduceOp op;
  int ranks;
};

// Reduces in the order the ranks are given in, or pairwise, without the ranks in `absent`.
std::vector<std::byte> reduce_like_a_gpu(const Case& c, uint64_t seed, bool as_tree,
                                         int absent = -1) {
  const Dataset dataset{c.type, c.op, c.ranks, seed};
  return with_element_type(c.type, [&]<class T>(std::type_identity<T>) {
    std::vector<std::vector<T>> parts;
    for (int rank = 0; rank < c.ranks; ++rank) {
      if (rank == absent) {
        continue;
      }
      std::vector<T> part(kCount);
      fill_input(dataset, rank, kFirst, std::as_writable_bytes(std::span(part)));
      for (T& value : part) {
        value = scaled_before(c.op, c.type, rank, c.ranks, value);
      }
      parts.push_back(std::move(part));
    }
    while (parts.size() > 1) {
      std::vector<T> last = std::move(parts.back());
      parts.pop_back();
      std::vector<T>& partner = as_tree ? parts[parts.size() / 2] : parts.back();
      for (size_t i = 0; i < kCount; ++i) {
        partner[i] = combine(c.op, partner[i], last[i]);
      }
    }
    for (T& value : parts[0]) {
      value = scaled_after(c.op, c.ranks, value);
    }
    std::vector<std::byte> bytes(kCount * sizeof(T));
    std::memcpy(bytes.data(), parts[0].data(), bytes.size());
    return bytes;
  });
}

class Reduction : public testing::TestWithParam<std::tuple<ElementType, ReduceOp>> {
 protected:
  Case with_ranks(int ranks) const {
    return {std::get<0>(GetParam()), std::get<1>(GetParam()), ranks};
  }
};

TEST_P(Reduction, AcceptsRightArithmeticInAnyOrderFor2To9Ranks) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const Case c = with_ranks(ranks);
    for (const bool as_tree : {false, true}) {
      const Mismatches mismatches = compare_with_reduction({c.type, c.op, ranks, 7}, kFirst,
                                                           reduce_like_a_gpu(c, 7, as_tree));
      EXPECT_EQ(mismatches.count, 0U) << ranks << " ranks: " << mismatches.first;
    }
  }
}

TEST_P(Reduction, AcceptsRightArithmeticOfVeryManyRanks) {
  const Case c = with_ranks(600);
  const Mismatches mismatches =
      compare_with_reduction({c.type, c.op, 600, 7}, kFirst, reduce_like_a_gpu(c, 7, false));
  EXPECT_EQ(mismatches.count, 0U) << mismatches.first;
}

TEST_P(Reduction, NoticesARankThatWasLeftOut) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const Case c = with_ranks(ranks);
    const bool extreme = c.op == ReduceOp::kMin || c.op == ReduceOp::kMax;
    const Mismatches mismatches = compare_with_reduction({c.type, c.op, ranks, 7}, kFirst,
                                                         reduce_like_a_gpu(c, 7, true, ranks / 2));
    // A minimum only depends on one rank in `ranks`; the small averages often truncate alike.
    EXPECT_GT(mismatches.count, extreme ? kCount / 40 : kCount / 4) << ranks << " ranks";
  }
}

TEST_P(Reduction, NoticesOtherDataAndNothingAtAll) {
  const Case c = with_ranks(4);
  const Dataset dataset{c.type, c.op, 4, 7};
  EXPECT_GT(compare_with_reduction(dataset, kFirst, reduce_like_a_gpu(c, 8, false)).count,
            kCount / 2);
  EXPECT_GT(compare_with_reduction(dataset, kFirst + 1, reduce_like_a_gpu(c, 7, false)).count,
            kCount / 2);
  const std::vector<std::byte> zeros(kCount * size_of(c.type));
  EXPECT_GT(compare_with_reduction(dataset, kFirst, zeros).count, kCount / 2);
  const std::vector<std::byte> ones(kCount * size_of(c.type), std::byte{0xff});  // NaN for floats
  EXPECT_GT(compare_with_reduction(dataset, kFirst, ones).count, kCount / 2);
}

TEST_P(Reduction, CountsOneDamagedElement) {
  const Case c = with_ranks(4);
  std::vector<std::byte> result = reduce_like_a_gpu(c, 7, false);
  result[(17 + 1) * size_of(c.type) - 1] ^= std::byte{0x40};
  const Mismatches mismatches = compare_with_reduction({c.type, c.op, 4, 7}, kFirst, result);
  EXPECT_EQ(mismatches.count, 1U);
  EXPECT_THAT(mismatches.first, HasSubstr("element 1017 "));
}

INSTANTIATE_TEST_SUITE_P(OfEveryTypeAndOperation, Reduction,
                         testing::Combine(testing::ValuesIn(kAllElementTypes),
                                          testing::ValuesIn(kAllReduceOps)),
                         [](const auto& test) {
                           return std::string(name_of(std::get<0>(test.param))) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

TEST(MovedData, IsKnownByRankElementAndSeed) {
  for (const ElementType type : kAllElementTypes) {
    const Dataset dataset{type, std::nullopt, 3, 5};
    std::vector<std::byte> bytes(kCount * size_of(type));
    fill_input(dataset, 1, kFirst, bytes);
    EXPECT_EQ(compare_with_input(dataset, 1, kFirst, bytes).count, 0U);
    EXPECT_GT(compare_with_input(dataset, 2, kFirst, bytes).count, kCount * 9 / 10);
    EXPECT_GT(compare_with_input(dataset, 1, kFirst + 1, bytes).count, kCount * 9 / 10);
    EXPECT_GT(compare_with_input({type, std::nullopt, 3, 6}, 1, kFirst, bytes).count,
              kCount * 9 / 10);
  }
}

TEST(MovedData, IsTheSameHoweverItIsCut) {
  const Dataset dataset{ElementType::kInt32, std::nullopt, 2, 5};
  std::vector<std::byte> whole(80);
  std::vector<std::byte> half(40);
  fill_input(dataset, 0, 0, whole);
  fill_input(dataset, 0, 10, half);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), whole.begin() + 40));
}

TEST(Averages, OfPowersOfTwoRanksHaveNoTolerance) {
  const Case c{ElementType::kFloat, ReduceOp::kAvg, 4};
  std::vector<std::byte> result = reduce_like_a_gpu(c, 7, false);
  float value = 0;
  std::memcpy(&value, result.data(), sizeof value);
  value = std::nextafter(value, 1e30F);
  std::memcpy(result.data(), &value, sizeof value);
  EXPECT_EQ(compare_with_reduction({c.type, c.op, 4, 7}, kFirst, result).count, 1U);
}

TEST(Premultipliers, DifferFromRankToRank) {
  EXPECT_NE(premultiplier(0), premultiplier(1));
  EXPECT_NE(premultiplier(1), premultiplier(2));
  float scalar = 0;
  std::memcpy(&scalar, premultiplier_bits(ElementType::kFloat, 2).data(), sizeof scalar);
  EXPECT_EQ(scalar, 3.0F);
}

}  // namespace
}  // namespace rocelane::collperf
