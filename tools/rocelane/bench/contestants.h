#pragma once

// The nets that are measured, each in a process of its own, asked in turn.

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/options.h"
#include "bench/worker_process.h"

namespace rocelane::bench {

// Removed with everything in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Contestant {
  WorkerProcess process;
  SetUpAnswer set_up;
  std::optional<TemporaryFolder> profiles;  // it runs in callgrind
};

// Names of the nets, --net first.
std::vector<std::string> nets_of(const Options& options);

// Which connections a contestant gets.
struct Wanted {
  std::vector<ConnectionSettings> connections;
  std::optional<nccl_host::Traffic> whole_fabric;  // between all hosts; no connections are named
  size_t whole_fabric_bytes = 0;
  bool in_callgrind = false;
  uint64_t seed = 1;
};

// Starts the process of one net and has it connected. `fabric`: text of the file, if there is one.
Result<Contestant> start_contestant(const Options& options, const std::string& net,
                                    const Wanted& wanted, const std::optional<std::string>& fabric);

}  // namespace rocelane::bench
