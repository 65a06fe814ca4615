#include "device/registered_fifo.h"

namespace rocelane::lab {

RegisteredInlet::RegisteredInlet(const Connection& connection)
    : connection_(connection), step_(*connection.step) {
  store_shared(*connection_.head, step_);
  // Tells the proxy that the kernel runs and the user's buffer may be written.
  store_shared(connection_.slots[step_ % kFifoSteps].size, ssize_t{0});
}

RegisteredInlet::~RegisteredInlet() { *connection_.step = step_; }

bool RegisteredInlet::has_arrived(size_t) { return load_shared(*connection_.tail) >= step_ + 1; }

void RegisteredInlet::release() { store_shared(*connection_.head, ++step_); }

RegisteredOutlet::RegisteredOutlet(const Connection& connection)
    : connection_(connection), step_(*connection.step) {}

RegisteredOutlet::~RegisteredOutlet() { *connection_.step = step_; }

bool RegisteredOutlet::has_room(size_t bytes) {
  slice_bytes_ = bytes;
  return has_room_until(load_shared(*connection_.head), step_ + 1);
}

void RegisteredOutlet::publish() {
  store_shared(connection_.slots[step_ % kFifoSteps].size, static_cast<ssize_t>(slice_bytes_));
  store_shared(*connection_.tail, ++step_);
}

bool RegisteredOutlet::is_drained() {
  // The proxy marks a slot with -1 once the network is done with it.
  return load_shared(connection_.slots[(step_ - 1) % kFifoSteps].size) == -1;
}

}  // namespace rocelane::lab
