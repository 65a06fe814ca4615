#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/connection.h"
#include "device/fifo.h"

namespace rocelane::lab {

// One step per slice. What has arrived is read off the lines, not off the tail.
class LlInlet : public Inlet {
 public:
  // `buffer_bytes`: of the connection's whole LL buffer.
  LlInlet(const Connection& connection, size_t buffer_bytes);
  ~LlInlet() override;

  bool has_arrived(size_t bytes) override;
  const std::byte* data() override;
  void release() override;

 private:
  const std::byte* lines() const;

  Connection connection_;
  size_t step_bytes_;
  uint64_t step_;
  size_t arrived_lines_ = 0;
  size_t slice_bytes_ = 0;
  std::vector<std::byte> decoded_;
};

class LlOutlet : public Outlet {
 public:
  LlOutlet(const Connection& connection, size_t buffer_bytes);
  ~LlOutlet() override;

  bool has_room(size_t bytes) override;
  std::byte* space() override;
  void publish() override;

 private:
  Connection connection_;
  size_t step_bytes_;
  uint64_t step_;
  size_t slice_bytes_ = 0;
  std::vector<std::byte> plain_;
};

// Flags are 32 bits and steps are 64: before the flags wrap around, one round of eight steps
// rewrites every line of the buffer, so that no line can keep a flag of the previous age.
bool is_cleaning_step(uint64_t step);

}  // namespace rocelane::lab
