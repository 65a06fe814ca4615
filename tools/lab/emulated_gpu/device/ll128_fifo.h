#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/connection.h"
#include "device/fifo.h"

namespace rocelane::lab {

// One step per slice. What has arrived is read off the lines.
class Ll128Inlet : public Inlet {
 public:
  // `buffer_bytes`: of the connection's whole LL128 buffer.
  Ll128Inlet(const Connection& connection, size_t buffer_bytes);
  ~Ll128Inlet() override;

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

class Ll128Outlet : public Outlet {
 public:
  Ll128Outlet(const Connection& connection, size_t buffer_bytes);
  ~Ll128Outlet() override;

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

}  // namespace rocelane::lab
