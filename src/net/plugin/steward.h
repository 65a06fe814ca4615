#pragma once

// Our one thread in the training process: watches the devices' events and does what would block
// NCCL's threads.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/device/port.h"

namespace rocelane::net {

class Steward {
 public:
  // `every_second`: done about that often.
  static Result<std::shared_ptr<Steward>> start(std::vector<std::shared_ptr<Device>> devices,
                                                std::function<void()> every_second);
  Steward(const Steward&) = delete;
  Steward& operator=(const Steward&) = delete;
  // Waits for the task that runs; tasks not begun never run.
  ~Steward();

  // From any thread. Tasks run one after the other, in order, and own what they use.
  void run(std::function<void()> task);

 private:
  Steward(std::vector<std::shared_ptr<Device>> devices, std::function<void()> every_second,
          FileDescriptor wake_up)
      : devices_(std::move(devices)),
        every_second_(std::move(every_second)),
        wake_up_(std::move(wake_up)) {}
  void loop();
  void run_tasks();
  void wake();

  std::vector<std::shared_ptr<Device>> devices_;
  std::function<void()> every_second_;
  FileDescriptor wake_up_;
  std::mutex mutex_;  // between run() on NCCL's threads and the loop, for tasks_
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rocelane::net
