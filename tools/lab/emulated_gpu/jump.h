#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rocelane::lab {

// x86-64 machine code for the few things a patch needs.

inline constexpr size_t kNearJumpBytes = 5;
inline constexpr size_t kFarJumpBytes = 14;
inline constexpr size_t kCallWithArgumentBytes = 24;

// Written over the first bytes of a function at `from`. None when `to` is out of reach (2 GiB).
std::optional<std::array<uint8_t, kNearJumpBytes>> encode_near_jump(uintptr_t from, uintptr_t to);

// Reaches every address and changes no register.
std::array<uint8_t, kFarJumpBytes> encode_far_jump(uintptr_t to);

// Replaces the first argument by `argument` and continues at `to`, which then returns to our
// caller.
std::array<uint8_t, kCallWithArgumentBytes> encode_call_with_argument(uintptr_t to,
                                                                      uintptr_t argument);

}  // namespace rocelane::lab
