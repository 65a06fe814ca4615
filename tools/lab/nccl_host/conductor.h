#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nccl_host/rank.h"
#include "nccl_host/run_state.h"
#include "nccl_host/softverbs_access.h"

namespace rocelane::nccl_host {

// Everything counted at one moment.
struct Snapshot {
  uint64_t now_ns = 0;        // the run's clock
  uint64_t real_ns = 0;       // steady clock
  uint64_t processor_ns = 0;  // of the process
  Meter senders;
  Meter receivers;
  DeviceCounters devices;
};

struct ConductorSettings {
  size_t warm_up_groups = 0;
  size_t groups = 0;  // the most any connection has
  int connections = 0;
  bool set_up_together = true;  // false: one connection after another
  size_t abort_after = 0;       // groups received; 0: run to the end
  // Called between set-up and the first message, and between warm-up and the counted messages.
  std::function<Status()> before_messages;
  std::function<Status()> before_counting;
};

// Leads the ranks from stage to stage. Looks at them from outside; one thread.
class Conductor {
 public:
  using Ranks = std::vector<std::unique_ptr<Rank>>;
  Conductor(const Ranks& ranks, RunState& state, ConductorSettings settings,
            const Softverbs::Reader& reader);

  // `now_ns` by the run's clock. True: the stage or a limit changed.
  Result<bool> step(uint64_t now_ns);
  bool is_done() const { return state_.stage.load() == Stage::kDone; }
  bool was_aborted() const { return aborted_; }

  const Snapshot& set_up_begin() const { return set_up_begin_; }
  const Snapshot& begin() const { return begin_; }
  const Snapshot& end() const { return end_; }

 private:
  Result<bool> step_set_up(uint64_t now_ns);
  Result<bool> step_messages(uint64_t now_ns);
  Result<bool> start_counting(uint64_t now_ns);
  void start_closing(uint64_t now_ns);
  bool all_ready(int connection_limit) const;
  bool all_finished(size_t group_limit) const;
  size_t groups_received() const;
  Snapshot look(uint64_t now_ns) const;

  const Ranks& ranks_;
  RunState& state_;
  ConductorSettings settings_;
  const Softverbs::Reader& reader_;
  bool counting_ = false;
  bool aborted_ = false;
  bool waits_for_leavers_ = false;  // an abort's counts settle when the progress threads have left
  Snapshot set_up_begin_;
  Snapshot begin_;
  Snapshot end_;
};

}  // namespace rocelane::nccl_host
