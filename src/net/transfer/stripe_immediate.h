#pragma once

// The 32 bits that travel with each stripe. A stripe is known by (message, stripe, epoch); the
// receiver counts stripes and bytes per message and never takes one completion for one message.
// Layout in docs/protocol.md.

#include <cstdint>

#include "net/connection/clear_to_send.h"

namespace rocelane::net {

inline constexpr uint32_t kMaxStripes = 128;
inline constexpr uint32_t kEpochs = 512;

struct StripeImmediate {
  uint32_t slot = 0;     // sequence of the grouped receive, modulo kReceiveSlots
  uint32_t buffer = 0;   // within the group
  uint32_t stripe = 0;   // 0-based
  uint32_t stripes = 1;  // of this message
  uint32_t epoch = 0;    // modulo kEpochs
};

namespace immediate_layout {
inline constexpr uint32_t kSlotBits = 6, kBufferBits = 3, kStripeBits = 7, kEpochBits = 9;
inline constexpr uint32_t kBufferShift = kSlotBits;
inline constexpr uint32_t kStripeShift = kBufferShift + kBufferBits;
inline constexpr uint32_t kStripesShift = kStripeShift + kStripeBits;
inline constexpr uint32_t kEpochShift = kStripesShift + kStripeBits;
static_assert(kEpochShift + kEpochBits == 32);
static_assert(1U << kSlotBits == kReceiveSlots && 1U << kBufferBits == kGroupedReceives &&
              1U << kStripeBits == kMaxStripes && 1U << kEpochBits == kEpochs);
}  // namespace immediate_layout

constexpr uint32_t pack(const StripeImmediate& immediate) {
  using namespace immediate_layout;
  return immediate.slot | immediate.buffer << kBufferShift | immediate.stripe << kStripeShift |
         (immediate.stripes - 1) << kStripesShift | immediate.epoch << kEpochShift;
}

// Every 32-bit value unpacks to fields within their ranges; `stripe < stripes` is the caller's to
// check.
constexpr StripeImmediate unpack_immediate(uint32_t bits) {
  using namespace immediate_layout;
  return {bits & (kReceiveSlots - 1), bits >> kBufferShift & (kGroupedReceives - 1),
          bits >> kStripeShift & (kMaxStripes - 1), (bits >> kStripesShift & (kMaxStripes - 1)) + 1,
          bits >> kEpochShift & (kEpochs - 1)};
}

}  // namespace rocelane::net
