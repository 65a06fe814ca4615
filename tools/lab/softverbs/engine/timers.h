#pragma once

#include <cstdint>

namespace rocelane::softverbs {

// 4.096 us * 2^exponent, of the attribute `timeout`; 0: no time limit.
uint64_t acknowledgement_timeout_ns(uint8_t exponent);

// Of the attribute `min_rnr_timer`, InfiniBand specification table 45.
uint64_t receiver_not_ready_ns(uint8_t code);

constexpr uint8_t kRetryForEver = 7;  // of the attribute `rnr_retry`

}  // namespace rocelane::softverbs
