#include "nccl_host/caller.h"

namespace rocelane::nccl_host {

Meter& Meter::operator+=(const Meter& other) {
  messages += other.messages;
  bytes += other.bytes;
  starts += other.starts;
  refusals += other.refusals;
  flushes += other.flushes;
  tests += other.tests;
  empty_tests += other.empty_tests;
  call_ns += other.call_ns;
  instructions += other.instructions;
  return *this;
}

Meter operator-(Meter a, const Meter& b) {
  a.messages -= b.messages;
  a.bytes -= b.bytes;
  a.starts -= b.starts;
  a.refusals -= b.refusals;
  a.flushes -= b.flushes;
  a.tests -= b.tests;
  a.empty_tests -= b.empty_tests;
  a.call_ns -= b.call_ns;
  a.instructions -= b.instructions;
  return a;
}

}  // namespace rocelane::nccl_host
