#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "fuzzer.h"

namespace rocelane::fuzz {

using Random = std::mt19937_64;

// One of `good`, with one to eight changes: bits, bytes, integers at the edges of their range, a
// piece of another input, an end cut off or drawn out. Mended in half of the cases. Never more than
// twice as long as the longest of `good`.
Input mutant(std::span<const Input> good, Random& random);

}  // namespace rocelane::fuzz
