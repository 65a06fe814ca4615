#pragma once

#include <cstddef>
#include <cstdint>

#include "device/connection.h"
#include "device/fifo.h"

namespace rocelane::lab {

// Send and receive on user buffers that the network reads and writes itself: the device only
// counts steps. One step per slice.
class RegisteredInlet : public Inlet {
 public:
  explicit RegisteredInlet(const Connection& connection);
  ~RegisteredInlet() override;

  bool has_arrived(size_t bytes) override;
  const std::byte* data() override { return nullptr; }
  void release() override;

 private:
  Connection connection_;
  uint64_t step_;
};

class RegisteredOutlet : public Outlet {
 public:
  explicit RegisteredOutlet(const Connection& connection);
  ~RegisteredOutlet() override;

  bool has_room(size_t bytes) override;
  std::byte* space() override { return nullptr; }
  void publish() override;
  bool is_drained() override;

 private:
  Connection connection_;
  uint64_t step_;
  size_t slice_bytes_ = 0;
};

}  // namespace rocelane::lab
