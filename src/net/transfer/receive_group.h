#pragma once

// What has arrived of one grouped receive. Pure counting over what a peer claims, so every claim is
// checked.

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "net/connection/clear_to_send.h"
#include "net/transfer/stripe_immediate.h"

namespace rocelane::net {

class ReceiveGroup {
 public:
  void start(uint32_t buffers, const std::array<uint32_t, kGroupedReceives>& capacities,
             uint32_t epoch);

  // One stripe of `bytes` has arrived. Empty, or what is wrong with the peer's claim, which
  // then counts for nothing.
  [[nodiscard]] std::string_view add(const StripeImmediate& stripe, uint32_t bytes);

  bool is_finished() const { return unfinished_ == 0; }
  uint32_t buffers() const { return buffers_; }
  uint64_t bytes(uint32_t buffer) const { return messages_.at(buffer).bytes; }

 private:
  struct Message {
    std::bitset<kMaxStripes> arrived;
    uint32_t stripes = 0;  // 0: nothing has arrived yet
    uint32_t missing = 0;
    uint64_t bytes = 0;
    uint32_t capacity = 0;
  };

  std::array<Message, kGroupedReceives> messages_{};
  uint32_t buffers_ = 0;
  uint32_t unfinished_ = 0;
  uint32_t epoch_ = 0;
};

}  // namespace rocelane::net
