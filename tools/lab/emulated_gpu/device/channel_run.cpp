#include "device/channel_run.h"

#include <chrono>

#include "device/work.h"

namespace rocelane::lab {
namespace {

uint64_t nanoseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Calls `note` with the channel's work number and the time for every work the profiler follows.
template <class Note>
void for_profiled_works(const Batch& batch, uint64_t works_done, Note note) {
  uint64_t number = works_done;
  const auto visit = [&](const auto& work) {
    ++number;
    if (work.profiled) {
      note(number, nanoseconds_now());
    }
  };
  for (const CollectiveWork& work : batch.collectives) {
    visit(work);
  }
  for (const SendReceiveWork& work : batch.sends_and_receives) {
    visit(work);
  }
}

}  // namespace

Progress ChannelRun::advance() {
  bool moved = false;
  for (size_t i = 0; i < transfers_.size();) {
    const Progress progress = transfers_[i].advance();
    moved = moved || progress != Progress::kWaiting;
    if (progress == Progress::kFinished) {
      transfers_.erase(transfers_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (!transfers_.empty()) {
    return moved ? Progress::kMoved : Progress::kWaiting;
  }
  return starts_next_work() ? Progress::kMoved : Progress::kFinished;
}

bool ChannelRun::starts_next_work() {
  while (batch_ < work_.batches.size()) {
    if (next_work_ == 0) {
      note_batch_start();
    }
    if (next_work_ < batch().collectives.size()) {
      transfers_ =
          start_collective(comm_, work_, batch().function, batch().collectives[next_work_]);
      ++next_work_;
      return true;
    }
    if (next_work_ < batch().works()) {
      transfers_ = start_sends_and_receives(comm_, work_, batch().sends_and_receives);
      next_work_ = batch().works();
      return true;
    }
    close_batch();
  }
  return false;
}

void ChannelRun::note_batch_start() const {
  for_profiled_works(batch(), work_.memory->works_done(), [&](uint64_t number, uint64_t time) {
    work_.memory->note_start(number, time);
  });
}

void ChannelRun::close_batch() {
  const uint64_t done = work_.memory->works_done();
  for_profiled_works(batch(), done, [&](uint64_t number, uint64_t time) {
    work_.memory->note_completion(number, time);
  });
  work_.memory->set_works_done(done + batch().works());
  ++batch_;
  next_work_ = 0;
}

}  // namespace rocelane::lab
