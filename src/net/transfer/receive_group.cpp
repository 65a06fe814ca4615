#include "net/transfer/receive_group.h"

namespace rocelane::net {

void ReceiveGroup::start(uint32_t buffers, const std::array<uint32_t, kGroupedReceives>& capacities,
                         uint32_t epoch) {
  epoch_ = epoch;
  buffers_ = buffers;
  unfinished_ = buffers;
  for (uint32_t i = 0; i < buffers; ++i) {
    messages_.at(i) = Message{};
    messages_.at(i).capacity = capacities.at(i);
  }
}

std::string_view ReceiveGroup::add(const StripeImmediate& stripe, uint32_t bytes) {
  if (stripe.epoch != epoch_) {
    return "a stripe of another epoch";
  }
  if (stripe.buffer >= buffers_) {
    return "a stripe for a buffer that was not announced";
  }
  if (stripe.stripe >= stripe.stripes) {
    return "a stripe beyond its message";
  }
  Message& message = messages_.at(stripe.buffer);
  const bool is_first = message.stripes == 0;
  if (!is_first && message.stripes != stripe.stripes) {
    return "two stripes of one message that disagree about their number";
  }
  if (message.arrived.test(stripe.stripe)) {
    return "the same stripe twice";
  }
  if (message.bytes + bytes > message.capacity) {
    return "more bytes than the buffer holds";
  }
  if (is_first) {
    message.stripes = stripe.stripes;
    message.missing = stripe.stripes;
  }
  message.arrived.set(stripe.stripe);
  message.bytes += bytes;
  if (--message.missing == 0) {
    --unfinished_;
  }
  return {};
}

}  // namespace rocelane::net
