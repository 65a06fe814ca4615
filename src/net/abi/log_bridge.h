#pragma once

#include "base/log.h"
#include "nccl_plugin/common.h"

namespace rocelane::net::abi {

// From now on our lines go to `log`, which NCCL handed to init; nullptr drops them. Thread-safe.
void send_logs_to(NcclLogFunction log);

// A warning that allocates nothing, for when memory has run out.
void warn_without_memory(const char* call, const char* problem) noexcept;

}  // namespace rocelane::net::abi
