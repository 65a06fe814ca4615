#include "device/ll128_fifo.h"

#include "device/ll128_line.h"

namespace rocelane::lab {

Ll128Inlet::Ll128Inlet(const Connection& connection, size_t buffer_bytes)
    : connection_(connection), step_bytes_(buffer_bytes / kFifoSteps), step_(*connection.step) {}

Ll128Inlet::~Ll128Inlet() { *connection_.step = step_; }

const std::byte* Ll128Inlet::lines() const {
  return connection_.buffer(Protocol::kLl128) + step_ % kFifoSteps * step_bytes_;
}

bool Ll128Inlet::has_arrived(size_t bytes) {
  slice_bytes_ = bytes;
  const size_t wanted = ll128_lines(bytes);
  // NVLink and PCIe deliver a 128-byte line as one. The CPU copy behind an emulated network
  // promises only aligned words, so there a line counts once its proxy has seen the whole step
  // complete.
  const bool through_proxy = connection_.slots != nullptr;
  if (through_proxy && wanted != 0 && load_shared(*connection_.tail) <= step_) {
    return false;
  }
  arrived_lines_ += count_ll128_lines(lines() + arrived_lines_ * kLl128LineBytes,
                                      wanted - arrived_lines_, step_ + 1);
  return arrived_lines_ == wanted;
}

const std::byte* Ll128Inlet::data() {
  decoded_.resize(slice_bytes_);
  decode_ll128(decoded_.data(), lines(), slice_bytes_);
  return decoded_.data();
}

void Ll128Inlet::release() {
  ++step_;
  arrived_lines_ = 0;
  store_shared(*connection_.head, step_);
}

Ll128Outlet::Ll128Outlet(const Connection& connection, size_t buffer_bytes)
    : connection_(connection), step_bytes_(buffer_bytes / kFifoSteps), step_(*connection.step) {}

Ll128Outlet::~Ll128Outlet() { *connection_.step = step_; }

bool Ll128Outlet::has_room(size_t bytes) {
  if (!has_room_until(load_shared(*connection_.head), step_ + 1)) {
    return false;
  }
  slice_bytes_ = bytes;
  return true;
}

std::byte* Ll128Outlet::space() {
  plain_.resize(slice_bytes_);
  return plain_.data();
}

void Ll128Outlet::publish() {
  std::byte* lines = connection_.buffer(Protocol::kLl128) + step_ % kFifoSteps * step_bytes_;
  if (connection_.slots != nullptr) {
    const size_t wire_bytes = ll128_lines(slice_bytes_) * kLl128LineBytes;
    store_shared(connection_.slots[step_ % kFifoSteps].size, static_cast<ssize_t>(wire_bytes));
  }
  encode_ll128(lines, plain_.data(), slice_bytes_, step_ + 1);
  ++step_;
  if (connection_.slots != nullptr) {
    store_shared(*connection_.tail, step_);
  }
}

}  // namespace rocelane::lab
