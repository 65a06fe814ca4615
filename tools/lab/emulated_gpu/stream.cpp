#include "stream.h"

#include <utility>

namespace rocelane::lab {

void Progress::complete_one() {
  {
    const std::lock_guard lock(mutex_);
    ++completed_;
  }
  changed_.notify_all();
}

bool Progress::reached(uint64_t count) const {
  const std::lock_guard lock(mutex_);
  return completed_ >= count;
}

void Progress::wait_for(uint64_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= count; });
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  has_work_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Ticket Stream::submit(Task task) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { work(); });
  }
  queue_.push_back(std::move(task));
  has_work_.notify_one();
  return {progress_, ++submitted_};
}

Ticket Stream::last_submitted() const {
  const std::lock_guard lock(mutex_);
  return {progress_, submitted_};
}

void Stream::work() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      has_work_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
    task = nullptr;  // what it holds is released before anybody learns that it is done
    progress_->complete_one();
  }
}

}  // namespace rocelane::lab
