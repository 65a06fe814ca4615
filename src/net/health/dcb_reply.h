#pragma once

// What the kernel's DCB netlink answers when asked for the IEEE settings of an interface.

#include <cstddef>
#include <span>

#include "base/result.h"
#include "net/health/queue_check.h"

namespace rocelane::telemetry {

// Of the one datagram that answers. Takes any bytes. An error when the kernel refused (its errno in
// words), when the answer is cut short or names no PFC. Of the application table only DSCP entries
// count; where a DSCP has several, the highest priority is in force, as in the kernel.
Result<QueueRules> decode_dcb_reply(std::span<const std::byte> datagram);

}  // namespace rocelane::telemetry
