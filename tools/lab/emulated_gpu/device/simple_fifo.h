#pragma once

#include <cstddef>
#include <cstdint>

#include "device/connection.h"
#include "device/fifo.h"

namespace rocelane::lab {

// How the Simple protocol cuts a chunk: into slices of one or more steps each.
struct SimpleSteps {
  uint64_t slices_per_chunk = 1;
  uint64_t steps_per_slice = 1;
  uint64_t per_chunk() const { return slices_per_chunk * steps_per_slice; }
};

// Plain data in the buffer; head and tail say what is valid.
class SimpleInlet : public Inlet {
 public:
  SimpleInlet(const Connection& connection, SimpleSteps steps);
  ~SimpleInlet() override;

  bool has_arrived(size_t bytes) override;
  const std::byte* data() override;
  void release() override;

 private:
  Connection connection_;
  uint64_t steps_per_slice_;
  uint64_t step_;
};

class SimpleOutlet : public Outlet {
 public:
  SimpleOutlet(const Connection& connection, SimpleSteps steps);
  ~SimpleOutlet() override;

  bool has_room(size_t bytes) override;
  std::byte* space() override;
  void publish() override;

 private:
  Connection connection_;
  uint64_t steps_per_slice_;
  uint64_t step_;
  size_t slice_bytes_ = 0;
};

}  // namespace rocelane::lab
