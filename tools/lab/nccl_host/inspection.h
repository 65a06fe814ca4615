#pragma once

// Looks at what arrived. Every byte of a message, and every byte that must not have changed.

#include <cstddef>
#include <span>
#include <string>

#include "nccl_host/arena.h"
#include "nccl_host/message_plan.h"

namespace rocelane::nccl_host {

struct Finding {
  size_t wrong_bytes = 0;
  std::string sentence;  // empty: nothing is wrong
};

// A received message and its surroundings.
Finding inspect_message(const ConnectionPlan& connection, const Message& message,
                        const Arena& arena, size_t slot);

// A slot before it is used again: whatever changed in it came too late.
Finding inspect_unused_slot(const ConnectionPlan& connection, const Message& message,
                            const Arena& arena, size_t slot);

// All of an arena when nothing may arrive any more.
Finding inspect_unused_arena(const ConnectionPlan& connection, Protocol protocol,
                             const Arena& arena);

}  // namespace rocelane::nccl_host
