#pragma once

#include <cstdint>

namespace rocelane::nccl_host {

// User-mode instructions of the calling thread, where the kernel and the machine count them.
class InstructionCounter {
 public:
  // Of the thread that asks; opened once a thread.
  static InstructionCounter& of_this_thread();
  // Tried on the calling thread.
  static bool available() { return of_this_thread().descriptor_ >= 0; }

  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  // 0 when not available.
  uint64_t read() const;
  // What two reads in a row differ by: to be taken off what lies between two.
  uint64_t cost_of_reading() const { return cost_; }

 private:
  InstructionCounter();
  int descriptor_ = -1;
  uint64_t cost_ = 0;
};

}  // namespace rocelane::nccl_host
