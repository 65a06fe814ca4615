#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collperf/element_type.h"

namespace rocelane::collperf {

enum class ReduceOp : uint8_t { kSum, kProd, kMax, kMin, kAvg, kMulSum };

inline constexpr std::array kAllReduceOps{ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax,
                                          ReduceOp::kMin, ReduceOp::kAvg,  ReduceOp::kMulSum};

std::string_view name_of(ReduceOp op);
std::optional<ReduceOp> reduce_op_named(std::string_view name);

// What the ranks put in. Without `op` elements are only moved, and their bits are arbitrary; with
// it they are chosen so that the result does not depend on the order of the reduction:
//   integers         arithmetic modulo 2^bits has one result; averages never overflow
//   sum, mulsum      integers so small that every partial sum is exact in the type
//   prod             powers of two and one factor 1.5, so every partial product is exact
//   avg of floats    exact for 2^k ranks; else a bound that follows from the type's rounding
struct Dataset {
  ElementType type = ElementType::kFloat;
  std::optional<ReduceOp> op;
  int ranks = 1;
  uint64_t seed = 0;
};

struct Mismatches {
  size_t count = 0;
  std::string first;  // which element, what was there, what belongs there

  void add(Mismatches other);
  // One more; `describe` is asked for its text only when it is the first.
  template <class Describe>
  void note(Describe&& describe) {
    if (count++ == 0) {
      first = describe();
    }
  }
};

// Elements [first, first + out.size() / size) of what `rank` contributes.
void fill_input(const Dataset& dataset, int rank, size_t first, std::span<std::byte> out);

// Compares `got` with elements [first, ...) of what `rank` contributed.
Mismatches compare_with_input(const Dataset& dataset, int rank, size_t first,
                              std::span<const std::byte> got);

// Compares `got` with elements [first, ...) of the reduction over all ranks. Needs dataset.op.
Mismatches compare_with_reduction(const Dataset& dataset, size_t first,
                                  std::span<const std::byte> got);

// The scalar `rank` multiplies its contribution with under mulsum, and its bits in the type.
int premultiplier(int rank);
std::array<std::byte, 8> premultiplier_bits(ElementType type, int rank);

}  // namespace rocelane::collperf
