#pragma once

// One net with its ranks and connections in this process, from init to finalize, and measurements
// in between. One thread uses it.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/memory_use.h"
#include "bench/placing.h"
#include "bench/players.h"
#include "bench/request.h"
#include "nccl_host/devices.h"
#include "nccl_host/hang_watch.h"
#include "nccl_host/rank.h"
#include "nccl_host/softverbs_access.h"

namespace rocelane::bench {

// Messages of one size, one a group.
nccl_host::ConnectionPlan plan_of_equal_messages(int number, nccl_host::Route route, size_t bytes,
                                                 size_t messages);

using Works = std::vector<std::unique_ptr<Work>>;

class Session {
 public:
  // Where instructions are counted; none: not. `start` and `stop` are called on the thread that
  // plays.
  struct InstructionCounting {
    void (*start)() = nullptr;
    std::function<Result<Instructions>()> stop;
  };

  // `net` and `softverbs` must outlive the session. `settings.fabric`: the virtual run is open.
  Session(nccl_host::Net& net, SessionSettings settings, const nccl_host::Softverbs& softverbs,
          InstructionCounting counting);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // init, devices, ranks, connections. `on_hang`: as HangWatch. An error leaves everything as it
  // is: the net cannot be used any more.
  Result<SetUpAnswer> set_up(const nccl_host::HangWatch::OnHang& on_hang);
  // Whether set_up came as far as connecting: what failed later is not about what was asked for.
  bool has_ranks() const { return rounds_ != nullptr; }
  Result<Answer> measure(const Request& request);
  // Also with messages under way, when it was stopped.
  Status close();
  // From any thread: whatever is being done ends with an error.
  void stop() { stop_ = true; }

 private:
  Status init_context();
  Status choose_ranks();
  Result<std::vector<Place>> places();
  Result<nccl_host::RankPlace> place_rank(int number, const Place& place);
  Result<int> device_of(const Place& place);
  Result<PlayedTime> connect_all();

  Result<Answer> measure_idle(const Request& request);
  Result<Answer> count_while(const Request& request, const Works& works);
  Works stream(int connections, size_t messages);
  Works ping_pong(const Request& request);
  void follow(int connection, size_t bytes, size_t messages);
  // Of connections [first, last): what lies at a rank.
  Ends ends_at(int rank, int first, int last);
  Players& players(bool one_thread);
  Status check_findings() const;

  nccl_host::Net& net_;
  SessionSettings settings_;
  const nccl_host::Softverbs& softverbs_;
  InstructionCounting counting_;
  nccl_host::Softverbs::Reader reader_;
  nccl_host::Caller main_;
  nccl_host::Findings findings_;
  nccl_host::EndSettings end_settings_;
  std::vector<void*> contexts_;
  nccl_host::Devices devices_;
  std::vector<nccl_host::ConnectionPlan> plans_;  // by connection
  std::vector<std::unique_ptr<nccl_host::Rank>> ranks_;
  std::unique_ptr<nccl_host::Handles> handles_;
  std::unique_ptr<Load> load_;
  nccl_host::RunState state_;
  std::atomic<bool> stop_ = false;
  // On the virtual clock: `virtual_clock_` is `clock_`.
  std::unique_ptr<nccl_host::RoundClock> clock_;
  nccl_host::VirtualRoundClock* virtual_clock_ = nullptr;
  std::unique_ptr<Players> threads_;
  std::unique_ptr<Players> rounds_;
  std::unique_ptr<nccl_host::HangWatch> watch_;  // last: it looks at the others
};

}  // namespace rocelane::bench
