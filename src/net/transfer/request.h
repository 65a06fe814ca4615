#pragma once

// What NCCL holds while a message is under way. Requests live in their channel and are reused; none
// is ever allocated.

#include <atomic>
#include <cstdint>

namespace rocelane::net {

class SendChannel;
class ReceiveChannel;
class RequestWatch;

enum class RequestKind : uint8_t { kFree, kSend, kReceive, kFlush };

class Request {
 public:
  // Of parts of the message, to come. Looked at without the hub's lock.
  std::atomic<uint32_t> pending{0};
  RequestKind kind = RequestKind::kFree;
  uint32_t slot = 0;                   // place in the channel's table of this kind
  uint64_t bytes = 0;                  // send
  SendChannel* sender = nullptr;       // of a send
  ReceiveChannel* receiver = nullptr;  // of a receive or a flush
  RequestWatch* watch = nullptr;       // its channel's

  // The caller holds the hub's lock, as everybody who changes it.
  void one_part_less() {
    pending.store(pending.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
};

}  // namespace rocelane::net
