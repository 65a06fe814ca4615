#include "collperf/communicators.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

#include "collperf/nccl_calls.h"

namespace rocelane::collperf {
namespace {

constexpr auto kPeerLookInterval = std::chrono::milliseconds(200);

// Leaves the processor to NCCL's threads, but never for more than 2% of the time already waited,
// so that a measured time is at most that much too long.
void pause_after(Clock::duration waited) {
  const auto pause = waited / 50;
  if (pause < std::chrono::microseconds(50)) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, std::chrono::milliseconds(5)));
  }
}

}  // namespace

Communicators::Communicators(const RankLayout& layout, Rendezvous& rendezvous, Watchdog& watchdog)
    : layout_(layout), rendezvous_(rendezvous), watchdog_(watchdog) {}

Result<std::unique_ptr<Communicators>> Communicators::create(const RankLayout& layout,
                                                             Rendezvous& rendezvous,
                                                             Watchdog& watchdog,
                                                             std::optional<int> traffic_class) {
  ncclUniqueId id{};
  if (layout.process == 0) {
    const Watchdog::Watch watch(watchdog, "Rank 0: making the unique id");
    const Status made = check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    if (!made) {
      return made.error();
    }
  }
  const Result<std::string> shared =
      rendezvous.from_first("unique id", {id.internal, sizeof id.internal});
  if (!shared) {
    return shared.error();
  }
  if (shared->size() != sizeof id.internal) {
    return Error{ErrorCode::kRemote,
                 fmt::format("Rank 0 sent a unique id of {} bytes instead of {}: do all processes "
                             "use the same NCCL?",
                             shared->size(), sizeof id.internal)};
  }
  std::memcpy(id.internal, shared->data(), sizeof id.internal);

  std::unique_ptr<Communicators> made(new Communicators(layout, rendezvous, watchdog));
  for (int gpu = 0; gpu < layout.gpus; ++gpu) {
    made->local_ranks_.push_back({layout.rank_of(gpu), layout.device_of(gpu), nullptr, nullptr});
  }
  const std::string doing = fmt::format("Rank {}: creating a communicator of {} ranks",
                                        layout.rank_of(0), layout.ranks());
  const Watchdog::Watch watch(watchdog, doing);
  for (LocalRank& local : made->local_ranks_) {
    Status ready =
        check_cuda(cudaSetDevice(local.device),
                   fmt::format("cudaSetDevice({}) for rank {}", local.device, local.rank));
    if (ready) {
      ready = check_cuda(cudaStreamCreate(&local.stream), "cudaStreamCreate");
    }
    if (!ready) {
      return ready.error();
    }
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.trafficClass = traffic_class.value_or(config.trafficClass);
  ncclResult_t result = ncclGroupStart();
  for (LocalRank& local : made->local_ranks_) {
    cudaSetDevice(local.device);
    const ncclResult_t one =
        ncclCommInitRankConfig(&local.comm, layout.ranks(), id, local.rank, &config);
    result = result == ncclSuccess ? one : result;
  }
  const ncclResult_t ended = ncclGroupEnd();
  const Status created = check_nccl(result == ncclSuccess ? ended : result, doing);
  if (!created) {
    return created.error();
  }
  return made;
}

Communicators::~Communicators() {
  static_cast<void>(abort());
  destroy_streams();
}

Status Communicators::issue_together(std::string_view doing,
                                     const std::function<Status(const LocalRank&)>& for_each) {
  const Watchdog::Watch watch(watchdog_,
                              fmt::format("Rank {}: issuing {}", layout_.rank_of(0), doing));
  const bool grouped = local_ranks_.size() > 1;
  if (grouped) {
    const Status started = check_nccl(ncclGroupStart(), "ncclGroupStart");
    if (!started) {
      return started;
    }
  }
  Status issued;
  for (const LocalRank& local : local_ranks_) {
    if (issued && grouped) {
      issued = check_cuda(cudaSetDevice(local.device), "cudaSetDevice");
    }
    if (issued) {
      issued = for_each(local);
    }
  }
  if (grouped) {
    const Status ended = check_nccl(ncclGroupEnd(), fmt::format("ncclGroupEnd for {}", doing));
    issued = issued ? ended : issued;
  }
  return issued;
}

Result<bool> Communicators::all_idle() const {
  for (const LocalRank& local : local_ranks_) {
    const cudaError_t state = cudaStreamQuery(local.stream);
    if (state == cudaErrorNotReady) {
      return false;
    }
    const Status fine = check_cuda(state, fmt::format("The stream of rank {}", local.rank));
    if (!fine) {
      return fine.error();
    }
  }
  return true;
}

Status Communicators::asynchronous_error() const {
  for (const LocalRank& local : local_ranks_) {
    ncclResult_t state = ncclSuccess;
    Status fine = check_nccl(ncclCommGetAsyncError(local.comm, &state), "ncclCommGetAsyncError");
    if (fine) {
      fine = check_nccl(state, fmt::format("The communicator of rank {}", local.rank));
    }
    if (!fine) {
      return fine;
    }
  }
  return {};
}

Status Communicators::wait(std::string_view doing) {
  const Clock::time_point started = Clock::now();
  Clock::time_point next_look = started + kPeerLookInterval;
  while (true) {
    const Result<bool> idle = all_idle();
    Status fine = idle ? asynchronous_error() : Status(idle.error());
    if (fine && *idle) {
      return {};
    }
    const Clock::time_point now = Clock::now();
    if (fine && now > next_look) {
      fine = rendezvous_.look_at_peers();
      next_look = now + kPeerLookInterval;
    }
    if (fine && watchdog_.patience().count() > 0 && now - started > watchdog_.patience()) {
      fine =
          Error{ErrorCode::kRemote,
                fmt::format("Rank {}: {} did not end within {} s (--deadline).", layout_.rank_of(0),
                            doing, std::chrono::duration<double>(watchdog_.patience()).count())};
    }
    if (!fine) {
      static_cast<void>(abort());
      return fine;
    }
    pause_after(now - started);
  }
}

Status Communicators::abort() {
  const Watchdog::Watch watch(
      watchdog_, fmt::format("Rank {}: aborting the communicator", layout_.rank_of(0)));
  Status first_failure;
  bool aborted_any = false;
  for (LocalRank& local : local_ranks_) {
    if (local.comm == nullptr) {
      continue;
    }
    cudaSetDevice(local.device);
    const Status done =
        check_nccl(ncclCommAbort(local.comm), fmt::format("ncclCommAbort on rank {}", local.rank));
    local.comm = nullptr;
    aborted_any = true;
    first_failure = first_failure ? done : first_failure;
  }
  // What was queued ends now too; only then may its buffers go.
  for (const LocalRank& local : local_ranks_) {
    if (aborted_any && local.stream != nullptr) {
      cudaSetDevice(local.device);
      cudaStreamSynchronize(local.stream);
    }
  }
  return first_failure;
}

Status Communicators::destroy() {
  const Watchdog::Watch watch(
      watchdog_, fmt::format("Rank {}: destroying the communicator", layout_.rank_of(0)));
  Status first_failure;
  for (LocalRank& local : local_ranks_) {
    cudaSetDevice(local.device);
    const Status done = check_nccl(ncclCommDestroy(local.comm),
                                   fmt::format("ncclCommDestroy on rank {}", local.rank));
    local.comm = nullptr;
    first_failure = first_failure ? done : first_failure;
  }
  destroy_streams();
  return first_failure;
}

void Communicators::destroy_streams() {
  for (LocalRank& local : local_ranks_) {
    if (local.stream != nullptr) {
      cudaSetDevice(local.device);
      cudaStreamDestroy(local.stream);
      local.stream = nullptr;
    }
  }
}

}  // namespace rocelane::collperf
