#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "device/function.h"

namespace rocelane::lab {

// The element loops of one operation on one type, chosen once per work. In every loop the output
// may be exactly one of the inputs, but must not overlap one partially.
struct Arithmetic {
  using Scale = void (*)(std::byte* out, const std::byte* in, size_t elements, uint64_t argument);
  using Combine = void (*)(std::byte* out, const std::byte* a, const std::byte* b, size_t elements,
                           uint64_t argument);

  size_t element_bytes = 1;
  uint64_t argument = 0;
  Scale before = nullptr;     // applied to a rank's own contribution; nullptr: nothing to do
  Combine combine = nullptr;  // nullptr: this work only copies
  Scale after = nullptr;      // applied to the finished result; nullptr: nothing to do
};

// nullopt: the type is not emulated.
std::optional<size_t> element_bytes(ElementType type);
std::optional<Arithmetic> arithmetic_for(Operation operation, ElementType type, uint64_t argument);

// Bytes that are only moved.
inline Arithmetic copying() { return {}; }

// Reads the operation's argument where the user keeps it in memory.
uint64_t load_argument(Operation operation, ElementType type, const void* address);

// Reduces all sources element by element and writes the result to every destination.
// `own_first`: the first source is this rank's contribution. `finished`: the result is final.
void reduce_copy(const Arithmetic& arithmetic, std::span<const std::byte* const> sources,
                 std::span<std::byte* const> destinations, size_t elements, bool own_first,
                 bool finished);

}  // namespace rocelane::lab
