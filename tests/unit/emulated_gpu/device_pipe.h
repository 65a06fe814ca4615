#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/connection.h"
#include "device/ll128_fifo.h"
#include "device/ll_fifo.h"
#include "device/simple_fifo.h"

namespace rocelane::lab {

inline constexpr std::array kAllProtocols = {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};

// One side's memory of a connection, small, so that a test wraps around it many times.
class ConnectionMemory {
 public:
  static constexpr std::array<size_t, 3> kBufferBytes = {kFifoSteps * 1024, kFifoSteps * 4096,
                                                         kFifoSteps * 2048};

  ConnectionMemory() {
    for (size_t i = 0; i < kBufferBytes.size(); ++i) {
      buffers_[i].resize(kBufferBytes[i] / sizeof(uint64_t));
    }
    slots.fill({.mode = 0, .offset = -1, .size = -1, .pointer = nullptr});
  }
  ConnectionMemory(const ConnectionMemory&) = delete;
  ConnectionMemory& operator=(const ConnectionMemory&) = delete;

  std::byte* buffer(Protocol protocol) {
    return reinterpret_cast<std::byte*>(buffers_[static_cast<size_t>(protocol)].data());
  }
  static size_t buffer_bytes(Protocol protocol) {
    return kBufferBytes[static_cast<size_t>(protocol)];
  }
  static size_t step_bytes(Protocol protocol) { return buffer_bytes(protocol) / kFifoSteps; }

  Connection connection(uint64_t& step, bool with_slots) {
    Connection connection{.tail = &tail,
                          .head = &head,
                          .slots = with_slots ? slots.data() : nullptr,
                          .step = &step,
                          .step_bytes = static_cast<int>(step_bytes(Protocol::kSimple))};
    for (const Protocol protocol : kAllProtocols) {
      connection.buffers[static_cast<size_t>(protocol)] = buffer(protocol);
    }
    return connection;
  }

  uint64_t head = 0;
  uint64_t tail = 0;
  std::array<FifoSlot, kFifoSteps> slots;

 private:
  std::array<std::vector<uint64_t>, 3> buffers_;
};

inline std::unique_ptr<Inlet> make_inlet(Protocol protocol, const Connection& connection,
                                         SimpleSteps steps = {}) {
  switch (protocol) {
    case Protocol::kLl:
      return std::make_unique<LlInlet>(connection, ConnectionMemory::buffer_bytes(protocol));
    case Protocol::kLl128:
      return std::make_unique<Ll128Inlet>(connection, ConnectionMemory::buffer_bytes(protocol));
    case Protocol::kSimple:
      return std::make_unique<SimpleInlet>(connection, steps);
  }
  return nullptr;
}

inline std::unique_ptr<Outlet> make_outlet(Protocol protocol, const Connection& connection,
                                           SimpleSteps steps = {}) {
  switch (protocol) {
    case Protocol::kLl:
      return std::make_unique<LlOutlet>(connection, ConnectionMemory::buffer_bytes(protocol));
    case Protocol::kLl128:
      return std::make_unique<Ll128Outlet>(connection, ConnectionMemory::buffer_bytes(protocol));
    case Protocol::kSimple:
      return std::make_unique<SimpleOutlet>(connection, steps);
  }
  return nullptr;
}

}  // namespace rocelane::lab
