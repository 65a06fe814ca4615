#pragma once

#include <cstdint>

namespace rocelane::net {

// What asking for a request finds. No Result: NCCL asks in vain most of the time.
enum class Outcome : uint8_t {
  kPending,
  kEnded,   // and the request is gone
  kFailed,  // whoever was asked has the Error
};

}  // namespace rocelane::net
