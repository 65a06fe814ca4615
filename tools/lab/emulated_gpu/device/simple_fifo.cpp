#include "device/simple_fifo.h"

namespace rocelane::lab {
namespace {

// Chunks start at multiples of their steps; host and device both round a connection up to one.
uint64_t round_up(uint64_t step, uint64_t multiple) {
  return (step + multiple - 1) / multiple * multiple;
}

std::byte* slot_buffer(const Connection& connection, uint64_t step) {
  std::byte* buffer = connection.buffer(Protocol::kSimple);
  const uint64_t index = step % kFifoSteps;
  if (connection.slots != nullptr) {
    const FifoSlot& slot = connection.slots[index];
    if (slot.mode == static_cast<int>(SlotMode::kOffset)) {
      return buffer + load_shared(slot.offset);
    }
  }
  return buffer + index * static_cast<uint64_t>(connection.step_bytes);
}

}  // namespace

SimpleInlet::SimpleInlet(const Connection& connection, SimpleSteps steps)
    : connection_(connection),
      steps_per_slice_(steps.steps_per_slice),
      step_(round_up(*connection.step, steps.per_chunk())) {
  // The steps skipped by rounding up are free again.
  store_shared(*connection_.head, step_);
}

SimpleInlet::~SimpleInlet() { *connection_.step = step_; }

bool SimpleInlet::has_arrived(size_t) {
  return load_shared(*connection_.tail) >= step_ + steps_per_slice_;
}

const std::byte* SimpleInlet::data() { return slot_buffer(connection_, step_); }

void SimpleInlet::release() {
  step_ += steps_per_slice_;
  store_shared(*connection_.head, step_);
}

SimpleOutlet::SimpleOutlet(const Connection& connection, SimpleSteps steps)
    : connection_(connection),
      steps_per_slice_(steps.steps_per_slice),
      step_(round_up(*connection.step, steps.per_chunk())) {}

SimpleOutlet::~SimpleOutlet() { *connection_.step = step_; }

bool SimpleOutlet::has_room(size_t bytes) {
  slice_bytes_ = bytes;
  return has_room_until(load_shared(*connection_.head), step_ + steps_per_slice_);
}

std::byte* SimpleOutlet::space() { return slot_buffer(connection_, step_); }

void SimpleOutlet::publish() {
  if (connection_.slots != nullptr) {
    store_shared(connection_.slots[step_ % kFifoSteps].size, static_cast<ssize_t>(slice_bytes_));
  }
  step_ += steps_per_slice_;
  store_shared(*connection_.tail, step_);
}

}  // namespace rocelane::lab
