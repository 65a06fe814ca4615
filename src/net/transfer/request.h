#pragma once

// What NCCL holds while a message is under way. Requests live in their channel and are reused; none
// is ever allocated.

#include <cstdint>

namespace rocelane::net {

class SendChannel;
class ReceiveChannel;

enum class RequestKind : uint8_t { kFree, kSend, kReceive, kFlush };

class Request {
 public:
  RequestKind kind = RequestKind::kFree;
  SendChannel* sender = nullptr;       // of a send
  ReceiveChannel* receiver = nullptr;  // of a receive or a flush
  uint32_t slot = 0;                   // place in the channel's table of this kind
  uint32_t pending = 0;                // send: completions to come
  uint64_t bytes = 0;                  // send
};

}  // namespace rocelane::net
