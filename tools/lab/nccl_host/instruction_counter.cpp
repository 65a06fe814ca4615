#include "nccl_host/instruction_counter.h"

#include <algorithm>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rocelane::nccl_host {
namespace {

int open_counter() {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

InstructionCounter::InstructionCounter() : descriptor_(open_counter()) {
  if (descriptor_ < 0) {
    return;
  }
  cost_ = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const uint64_t first = read();
    cost_ = std::min(cost_, read() - first);
  }
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

InstructionCounter& InstructionCounter::of_this_thread() {
  thread_local InstructionCounter counter;
  return counter;
}

uint64_t InstructionCounter::read() const {
  uint64_t value = 0;
  if (descriptor_ < 0 || ::read(descriptor_, &value, sizeof(value)) != sizeof(value)) {
    return 0;
  }
  return value;
}

}  // namespace rocelane::nccl_host
