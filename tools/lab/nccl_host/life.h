#pragma once

// One life of a net: init, connections, messages, closing, finalize.

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl_host/caller.h"
#include "nccl_host/end_support.h"
#include "nccl_host/hang_watch.h"
#include "nccl_host/message_plan.h"
#include "nccl_host/net.h"
#include "nccl_host/run_loops.h"
#include "nccl_host/softverbs_access.h"

namespace rocelane::nccl_host {

enum class Threading : uint8_t {
  kThreads,  // every rank has its threads; real time
  kRounds,   // one thread plays them all by seed; real time
  kVirtual,  // the same on softverbs' virtual clock
};

struct LifeSettings {
  int ranks = 2;
  std::vector<std::string>
      devices;  // of each rank, by name or number; empty: rank modulo their number
  std::vector<ConnectionPlan> plans;
  int group = 1;
  size_t warm_up_groups = 0;
  Threading threading = Threading::kThreads;
  uint64_t seed = 1;
  int traffic_class = kNcclNetUndefined;
  int window = 8;
  double patience_s = 30;
  MemoryChoice memory = MemoryChoice::kAuto;
  bool optional_completions = true;
  std::optional<bool> flush;  // none: as the device's forceFlush asks
  bool vary_arguments = true;
  size_t abort_after = 0;             // receives; 0: run to the end
  std::ostream* event_log = nullptr;  // softverbs' events from the first counted message on
  std::string faults;                 // injected before the first counted message; softverbs only
};

struct RankUse {
  int rank = 0;
  int device = 0;
  std::string device_name;
};

struct LifeResult {
  std::string net_name;
  int abi = 0;
  std::vector<RankUse> ranks;
  double set_up_s = 0;     // real time
  double messages_s = 0;   // the counted messages, by the run's clock
  double real_s = 0;       // the same, in real time
  double processor_s = 0;  // the same, all threads
  bool aborted = false;
  Meter senders;  // of the counted messages
  Meter receivers;
  bool has_instructions = false;
  bool has_counters = false;
  DeviceCounters devices;  // of the counted messages
  size_t wrong_bytes = 0;
  std::vector<std::string> wrong;        // sentences; not empty: the net is at fault
  std::optional<uint64_t> trace_digest;  // single-threaded runs
};

// An error says who waited for what, or which call failed; the net is then left as it is.
Result<LifeResult> live(Net& net, const LifeSettings& settings, const Softverbs& softverbs,
                        const HangWatch::OnHang& on_hang);

}  // namespace rocelane::nccl_host
