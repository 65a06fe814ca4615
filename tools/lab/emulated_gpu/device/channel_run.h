#pragma once

#include <cstddef>
#include <vector>

#include "device/arguments.h"
#include "device/transfer.h"

namespace rocelane::lab {

// One channel of a kernel on its way through its batches.
class ChannelRun {
 public:
  // `work`'s batches are all emulated. `comm` and `work` must outlive the run.
  ChannelRun(const CommFacts& comm, const ChannelWork& work) : comm_(comm), work_(work) {}

  // Lets every transfer under way do one slice.
  Progress advance();

 private:
  const Batch& batch() const { return work_.batches[batch_]; }
  bool starts_next_work();
  void note_batch_start() const;
  void close_batch();

  const CommFacts& comm_;
  const ChannelWork& work_;
  size_t batch_ = 0;
  size_t next_work_ = 0;  // of the batch
  std::vector<Transfer> transfers_;
};

}  // namespace rocelane::lab
