#include "net/transfer/stripe_plan.h"

#include <algorithm>

#include "net/transfer/stripe_immediate.h"

namespace rocelane::net {
namespace {

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

size_t largest_stripe(size_t max_work_request_bytes) {
  return max_work_request_bytes / kStripeAlignmentBytes * kStripeAlignmentBytes;
}

}  // namespace

StripePlan plan_stripes(size_t bytes, size_t lanes, const StripeLimits& limits) {
  const size_t wished = std::clamp(bytes / limits.smallest_bytes, size_t{1}, lanes);
  const size_t needed = divide_up(bytes, largest_stripe(limits.max_work_request_bytes));
  const size_t parts = std::max(wished, needed);
  StripePlan plan;
  plan.stripe_bytes =
      divide_up(divide_up(bytes, parts), kStripeAlignmentBytes) * kStripeAlignmentBytes;
  // Rounding up may leave the last parts empty.
  plan.stripes = static_cast<uint32_t>(bytes == 0 ? 1 : divide_up(bytes, plan.stripe_bytes));
  return plan;
}

size_t max_message_bytes(size_t max_work_request_bytes) {
  return kMaxStripes * largest_stripe(max_work_request_bytes);
}

}  // namespace rocelane::net
