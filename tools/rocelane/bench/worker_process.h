#pragma once

// A process of its own for a net: two nets in one would share threads, memory and settings, and
// NCCL's cannot be unloaded.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "bench/channel.h"
#include "bench/request.h"

namespace rocelane::bench {

struct WorkerCommand {
  std::vector<std::string> before;                 // what runs this program; may be empty
  std::map<std::string, std::string> environment;  // added to ours
  bool verbose = false;
};

// Errors of kInvalidArgument mean that it was asked for something it cannot do; others, that a
// measurement failed. One thread.
class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerCommand& command);
  WorkerProcess(WorkerProcess&&) = default;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  // Closes the channel and waits for the process; it is killed when it does not end.
  ~WorkerProcess();

  Result<SetUpAnswer> open(const SessionSettings& settings);
  Result<Answer> measure(const Request& request);
  Result<PathAnswer> paths();
  Status close();

 private:
  WorkerProcess(Channel channel, pid_t pid) : channel_(std::move(channel)), pid_(pid) {}
  Result<Json> ask(const Json& question);
  Error why_silent();

  Channel channel_;
  struct Pid {
    pid_t value = -1;
    Pid(pid_t pid) : value(pid) {}
    Pid(Pid&& other) noexcept : value(std::exchange(other.value, -1)) {}
  };
  Pid pid_;
};

// From now on an interrupt of the user ends the measurement with an error and not the process, so
// that nothing is left behind.
void catch_interrupts();
bool was_interrupted();

// The argument that makes this program a worker, and the descriptor of its channel.
inline constexpr const char* kWorkerArgument = "bench-worker";
inline constexpr int kWorkerDescriptor = 3;

}  // namespace rocelane::bench
