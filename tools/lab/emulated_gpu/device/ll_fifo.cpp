#include "device/ll_fifo.h"

#include "device/ll_line.h"

namespace rocelane::lab {
namespace {

uint32_t flag_of_step(uint64_t step) { return static_cast<uint32_t>(step + 1); }

}  // namespace

bool is_cleaning_step(uint64_t step) {
  constexpr uint64_t kMask = 0x7ffffff8;
  return (step & kMask) == kMask;
}

LlInlet::LlInlet(const Connection& connection, size_t buffer_bytes)
    : connection_(connection), step_bytes_(buffer_bytes / kFifoSteps), step_(*connection.step) {}

LlInlet::~LlInlet() { *connection_.step = step_; }

const std::byte* LlInlet::lines() const {
  return connection_.buffer(Protocol::kLl) + step_ % kFifoSteps * step_bytes_;
}

bool LlInlet::has_arrived(size_t bytes) {
  slice_bytes_ = bytes;
  const size_t wanted = ll_lines(bytes);
  arrived_lines_ += count_ll_lines(lines() + arrived_lines_ * kLlLineBytes, wanted - arrived_lines_,
                                   flag_of_step(step_));
  return arrived_lines_ == wanted;
}

const std::byte* LlInlet::data() {
  decoded_.resize(slice_bytes_);
  decode_ll(decoded_.data(), lines(), slice_bytes_);
  return decoded_.data();
}

void LlInlet::release() {
  ++step_;
  arrived_lines_ = 0;
  store_shared(*connection_.head, step_);
}

LlOutlet::LlOutlet(const Connection& connection, size_t buffer_bytes)
    : connection_(connection), step_bytes_(buffer_bytes / kFifoSteps), step_(*connection.step) {}

LlOutlet::~LlOutlet() { *connection_.step = step_; }

bool LlOutlet::has_room(size_t bytes) {
  if (!has_room_until(load_shared(*connection_.head), step_ + 1)) {
    return false;
  }
  slice_bytes_ = bytes;
  return true;
}

std::byte* LlOutlet::space() {
  plain_.resize(slice_bytes_);
  return plain_.data();
}

void LlOutlet::publish() {
  std::byte* lines = connection_.buffer(Protocol::kLl) + step_ % kFifoSteps * step_bytes_;
  const size_t used = ll_lines(slice_bytes_);
  if (connection_.slots != nullptr) {
    const size_t wire_bytes = is_cleaning_step(step_) ? step_bytes_ : used * kLlLineBytes;
    store_shared(connection_.slots[step_ % kFifoSteps].size, static_cast<ssize_t>(wire_bytes));
  }
  encode_ll(lines, plain_.data(), slice_bytes_, flag_of_step(step_));
  if (is_cleaning_step(step_)) {
    flag_ll_lines(lines + used * kLlLineBytes, step_bytes_ / kLlLineBytes - used,
                  flag_of_step(step_));
  }
  ++step_;
}

}  // namespace rocelane::lab
