#pragma once

#include <cstddef>
#include <cstdint>

namespace rocelane::net {

// LL128 polls whole lines of this size, so no stripe may end inside one.
inline constexpr size_t kStripeAlignmentBytes = 128;

// A message cut into `stripes` parts of `stripe_bytes`, the last one shorter. An empty message is
// one empty stripe.
struct StripePlan {
  uint32_t stripes = 1;
  size_t stripe_bytes = 0;
};

struct StripeLimits {
  // Of a striped message a lane gets at least this much: every stripe costs a work request and a
  // completion.
  size_t smallest_bytes = size_t{64} * 1024;
  size_t max_work_request_bytes = size_t{1} << 30;  // what one work request may carry on both ports
};

// Needs bytes <= max_message_bytes(limits.max_work_request_bytes).
StripePlan plan_stripes(size_t bytes, size_t lanes, const StripeLimits& limits);

// The largest message that fits the stripe numbers.
size_t max_message_bytes(size_t max_work_request_bytes);

}  // namespace rocelane::net
