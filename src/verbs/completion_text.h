#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <infiniband/verbs.h>

namespace rocelane::verbs {

// "12, transport retry counter exceeded"
std::string completion_status_text(ibv_wc_status status);

// The usual cause of a failed completion and what to look at, as the rest of a sentence.
std::string_view completion_cause(ibv_wc_status status);

// The vendor's own code in words where it is known and agrees with `status`, else "vendor error
// 0x…".
std::string vendor_error_text(ibv_wc_status status, uint32_t vendor_error);

}  // namespace rocelane::verbs
