#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "base/result.h"
#include "collperf/rank_layout.h"
#include "collperf/rendezvous.h"
#include "collperf/watchdog.h"

namespace rocelane::collperf {

// One rank of this process.
struct LocalRank {
  int rank = 0;
  int device = 0;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;
};

// One communicator over all ranks: this process's members of it, and their streams.
class Communicators {
 public:
  // Everybody calls it together; the unique id travels through the rendezvous.
  static Result<std::unique_ptr<Communicators>> create(
      const RankLayout& layout, Rendezvous& rendezvous, Watchdog& watchdog,
      std::optional<int> traffic_class = std::nullopt);
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators();  // aborts what was not destroyed

  const std::vector<LocalRank>& local_ranks() const { return local_ranks_; }

  // Runs `for_each` for every rank of this process, as one group when there are several.
  Status issue_together(std::string_view doing,
                        const std::function<Status(const LocalRank&)>& for_each);
  // Until all streams are idle. An asynchronous error, a peer that has gone or the deadline aborts
  // the communicator and comes back as an error.
  Status wait(std::string_view doing);
  Status abort();
  Status destroy();

 private:
  Communicators(const RankLayout& layout, Rendezvous& rendezvous, Watchdog& watchdog);
  Result<bool> all_idle() const;
  Status asynchronous_error() const;
  void destroy_streams();

  RankLayout layout_;
  Rendezvous& rendezvous_;
  Watchdog& watchdog_;
  std::vector<LocalRank> local_ranks_;
};

}  // namespace rocelane::collperf
