#include "jump.h"

#include <cstring>
#include <limits>

namespace rocelane::lab {

std::optional<std::array<uint8_t, kNearJumpBytes>> encode_near_jump(uintptr_t from, uintptr_t to) {
  // The distance counts from the end of the instruction.
  const auto distance =
      static_cast<int64_t>(to) - static_cast<int64_t>(from) - static_cast<int64_t>(kNearJumpBytes);
  if (distance < std::numeric_limits<int32_t>::min() ||
      distance > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  std::array<uint8_t, kNearJumpBytes> code{0xe9};  // jmp rel32
  const auto rel32 = static_cast<int32_t>(distance);
  std::memcpy(code.data() + 1, &rel32, sizeof(rel32));
  return code;
}

std::array<uint8_t, kFarJumpBytes> encode_far_jump(uintptr_t to) {
  std::array<uint8_t, kFarJumpBytes> code{0xff, 0x25, 0, 0, 0, 0};  // jmp [rip+0]
  std::memcpy(code.data() + 6, &to, sizeof(to));
  return code;
}

std::array<uint8_t, kCallWithArgumentBytes> encode_call_with_argument(uintptr_t to,
                                                                      uintptr_t argument) {
  std::array<uint8_t, kCallWithArgumentBytes> code{0x48, 0xbf};  // mov rdi, imm64
  std::memcpy(code.data() + 2, &argument, sizeof(argument));
  const auto jump = encode_far_jump(to);
  std::memcpy(code.data() + 10, jump.data(), jump.size());
  return code;
}

}  // namespace rocelane::lab
