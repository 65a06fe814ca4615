#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace rocelane::lab {

// What a patched function does instead of its own code.
struct Replacement {
  uintptr_t address = 0;  // of the function that is overwritten
  size_t room = 0;        // bytes it occupies
  std::string name;
  const void* continue_at = nullptr;
  // Given to continue_at as its first argument; nullptr leaves the caller's arguments alone.
  const void* argument = nullptr;
};

// Overwrites each function by a jump. All or none: everything that can fail is tried before the
// first byte changes. The pages are writable only while this runs. Call it while no other thread
// can be inside these functions.
Status apply_patches(const std::vector<Replacement>& replacements);

}  // namespace rocelane::lab
