#include "softverbs/segment/run.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "softverbs/description/read_files.h"
#include "softverbs/segment/prepare_fabric.h"
#include "softverbs/segment/process_table.h"

namespace rocelane::softverbs {
namespace {

constexpr uint64_t kSharedBytes = uint64_t{32} << 30;
constexpr uint64_t kVirtualBytes = uint64_t{8} << 30;
constexpr uint64_t kRoomToSpare = uint64_t{8} << 20;

constexpr uint64_t kStep = 65536;  // tables get memory in pieces of this

// Never destroyed at the end of the process: other threads may still be in a call.
std::mutex current_mutex;
Run* current_owner = nullptr;
std::atomic<uint64_t> runs{0};
std::atomic<Run*> current_run{nullptr};
bool has_failed = false;

constexpr uint64_t kNoTime = UINT64_MAX;
thread_local uint64_t time_of_event_ns = kNoTime;

Error no_room() {
  return {ErrorCode::kSystem,
          "softverbs: /dev/shm has less than 16 MiB left; make room, or give the container more "
          "(docker run --shm-size)"};
}

uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

template <class T>
Offset<T> lay_out(uint64_t& next, uint64_t count) {
  constexpr uint64_t kLine = 64;
  next = (next + kLine - 1) / kLine * kLine;
  const Offset<T> place{next};
  next += count * sizeof(T);
  return place;
}

void fill_device(Device& device, const DeviceDescription& description) {
  device.port_up.store(description.port_up);
  for (const GidDescription& gid : description.gids) {
    GidSlot& slot = device.gids[static_cast<size_t>(gid.index)];
    slot.present = true;
    slot.roce_v2 = gid.roce_v2;
    slot.gid = gid.gid;
    gid.interface.copy(slot.interface, sizeof slot.interface - 1);
  }
}

}  // namespace

Run::Run() : serial_(++runs) {
  static const int watching = pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(watching);
}

Run* Run::joined() { return current_run.load(std::memory_order_acquire); }

Run* Run::current() {
  if (Run* run = joined()) {
    return run;
  }
  const std::lock_guard lock(current_mutex);
  if (current_owner != nullptr || has_failed) {
    return current_owner;
  }
  auto settings = read_run_settings([](const char* name) -> const char* { return getenv(name); });
  auto run = settings ? join(std::move(*settings))
                      : Result<std::unique_ptr<Run>>(std::move(settings).error());
  if (!run) {
    has_failed = true;
    std::fprintf(stderr, "%s\n", run.error().what.c_str());
    return nullptr;
  }
  current_owner = run->release();
  current_run.store(current_owner, std::memory_order_release);
  return current_owner;
}

// A child is another process: it has nothing in its parent's run, and joins anew if it calls verbs.
void Run::forget_in_child() {
  current_run.store(nullptr);
  static Run* parents = nullptr;  // its threads are gone, its memory is still mapped
  parents = std::exchange(current_owner, nullptr);
  static_cast<void>(parents);
  has_failed = false;
  new (&current_mutex) std::mutex;
}

Status Run::open_virtual(const std::string& fabric, const std::string& faults, uint64_t seed) {
  const std::lock_guard lock(current_mutex);
  if (current_owner != nullptr) {
    return Error{ErrorCode::kInvalidUsage,
                 "softverbs: this process takes part in a run already; close it first"};
  }
  auto run = make_virtual(fabric, faults, seed);
  if (!run) {
    return std::move(run).error();
  }
  current_owner = run->release();
  current_run.store(current_owner, std::memory_order_release);
  return {};
}

void Run::close() {
  const std::lock_guard lock(current_mutex);
  current_run.store(nullptr, std::memory_order_release);
  delete std::exchange(current_owner, nullptr);
}

void Run::leave_at_exit() {
  const std::lock_guard lock(current_mutex);
  if (current_owner != nullptr) {
    current_owner->leave();
    static Run* left = nullptr;
    left = std::exchange(current_owner, nullptr);
    static_cast<void>(left);
  }
}

Result<std::unique_ptr<Run>> Run::join(RunSettings settings) {
  std::unique_ptr<Run> run(new Run);
  run->settings_ = std::move(settings);
  const RunSettings& wishes = run->settings_;
  if (Status status = run->describe(wishes.fabric_text, wishes.fabric_file, wishes.faults_text,
                                    wishes.faults_file);
      !status) {
    return std::move(status).error();
  }
  if (wishes.host > run->description_.hosts) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("softverbs: ROCELANE_LAB_HOST={} but the run has {} hosts",
                             wishes.host, run->description_.hosts)};
  }
  const FabricDescription& fabric = run->description_.fabric;
  run->timed_ = wishes.has_faults || !fabric.is_ideal() || !fabric.link_local_reaches;
  remove_abandoned_runs();
  auto folder = RunFolder::join(wishes.name);
  if (!folder) {
    return std::move(folder).error();
  }
  run->folder_.emplace(std::move(*folder));
  run->pipes_ = Pipes(run->folder_->path());
  const bool fresh = run->folder_->fresh();
  if (fresh && ::ftruncate(run->folder_->segment(), static_cast<off_t>(kSharedBytes)) != 0) {
    return Error{ErrorCode::kSystem,
                 fmt::format("softverbs: {} cannot hold the segment of a run: {}",
                             run->folder_->path(), std::strerror(errno))};
  }
  Status status = run->map(kSharedBytes);
  if (status && fresh) {
    status = run->prepare(kSharedBytes);
  }
  if (fresh) {
    run->folder_->announce();
  }
  if (status) {
    status = run->enter();
  }
  if (!status) {
    return std::move(status).error();
  }
  // Others copy into our memory; where the kernel asks for it, this is the leave.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  return run;
}

Result<std::unique_ptr<Run>> Run::make_virtual(const std::string& fabric, const std::string& faults,
                                               uint64_t seed) {
  std::unique_ptr<Run> run(new Run);
  run->virtual_ = true;
  run->timed_ = true;
  run->settings_.host = kAllHosts;
  if (Status status = run->describe(fabric, "fabric", faults, "faults"); !status) {
    return std::move(status).error();
  }
  run->description_.seed = seed;
  run->topology_ = std::make_unique<Topology>(run->description_);
  Status status = run->map(kVirtualBytes);
  if (status) {
    status = run->prepare(kVirtualBytes);
  }
  if (status) {
    status = run->enter();
  }
  if (!status) {
    return std::move(status).error();
  }
  return run;
}

Status Run::describe(const std::string& fabric, const std::string& fabric_file,
                     const std::string& faults, const std::string& faults_file) {
  auto description = read_fabric(fabric, fabric_file);
  if (!description) {
    return std::move(description).error();
  }
  description_ = std::move(*description);
  topology_ = std::make_unique<Topology>(description_);
  auto script = read_faults(faults, faults_file, description_);
  if (!script) {
    return std::move(script).error();
  }
  faults_ = std::move(*script);
  return {};
}

Status Run::map(uint64_t bytes) {
  const int descriptor = folder_ ? folder_->segment() : -1;
  const int flags = folder_ ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) {
    return Error{ErrorCode::kSystem,
                 fmt::format("softverbs: mapping {} GiB of a run's segment failed: {}; is the "
                             "address space limited (ulimit -v)?",
                             bytes >> 30, std::strerror(errno))};
  }
  base_ = static_cast<std::byte*>(base);
  mapped_bytes_ = bytes;
  return {};
}

// The segment is all zero, which is what every table begins with.
Status Run::prepare(uint64_t bytes) {
  const auto device_count = static_cast<uint32_t>(description_.devices.size());
  const auto link_count = static_cast<uint32_t>(topology_->links().size());
  uint64_t next = sizeof(Header);
  const auto devices = lay_out<Device>(next, device_count);
  const auto links = lay_out<LinkState>(next, link_count);
  const auto fault_counts = lay_out<uint64_t>(next, faults_.faults.size() + kMostInjectedFaults);
  if (!back(0, next)) {
    return no_room();
  }
  Header& header = *new (base_) Header;
  header.version = kLayoutVersion;
  header.description_digest = digest();
  header.began_ns = virtual_ ? 0 : monotonic_ns();
  header.device_count = device_count;
  header.devices = devices;
  header.fabric.link_count = link_count;
  header.fabric.links = links;
  header.fabric.fault_counts = fault_counts;
  header.processes = lay_out<Process>(next, kMostProcesses);
  header.contexts = lay_out<Context>(next, kMostContexts);
  header.domains = lay_out<Domain>(next, kMostDomains);
  header.regions = lay_out<Region>(next, kMostRegions);
  header.completion_queues = lay_out<CompletionQueue>(next, kMostCompletionQueues);
  header.shared_receive_queues = lay_out<SharedReceiveQueue>(next, kMostReceiveQueues);
  header.queue_pairs = lay_out<QueuePair>(next, kMostQueuePairs);
  header.journal.records = lay_out<QueuePairRecord>(next, kMostRecords);
  header.arena.initialise(next, bytes);
  if (timed_ && !prepare_fabric(*this)) {
    return no_room();
  }
  for (uint32_t number = 0; number < header.device_count; ++number) {
    fill_device(device(number), description_.devices[number]);
  }
  // A forgotten key, and the two reserved queue pairs, are wrong ones.
  const bool reserved = claim(header.region_table, header.regions, kMostRegions) == 0 &&
                        claim(header.queue_pair_table, header.queue_pairs, kMostQueuePairs) == 0 &&
                        claim(header.queue_pair_table, header.queue_pairs, kMostQueuePairs) == 1;
  if (!reserved) {
    return no_room();
  }
  header.magic.store(kMagic, std::memory_order_release);
  return {};
}

Status Run::enter() {
  Header& shared = header();
  if (shared.magic.load(std::memory_order_acquire) != kMagic || shared.version != kLayoutVersion) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("softverbs: the run \"{}\" was begun by another version of this "
                             "library; use one build for all of its processes",
                             settings_.name)};
  }
  if (shared.description_digest != digest()) {
    const auto named = [](const std::string& file) { return file.empty() ? "none" : file; };
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("softverbs: the run \"{}\" was begun with another fabric or fault file "
                    "than this process has (fabric {}, faults {}); give the run another "
                    "name with ROCELANE_LAB_RUN, or all its processes the same files",
                    settings_.name, named(settings_.fabric_file), named(settings_.faults_file))};
  }
  // In its own slot before it reaps: what a dead process has left half done may have to be finished.
  process_ = claim_process(*this);
  if (process_ == kNone) {
    return Error{ErrorCode::kSystem,
                 fmt::format("softverbs: {} processes are in the run \"{}\", there is no room for "
                             "another one",
                             kMostProcesses, settings_.name)};
  }
  entered_ = true;
  reap_dead_processes(*this);
  return {};
}

Run::~Run() {
  leave();
  if (base_ != nullptr) {
    ::munmap(base_, mapped_bytes_);
  }
}

void Run::leave() {
  if (!folder_) {
    return;
  }
  const bool entered = std::exchange(entered_, false);
  if (entered) {
    reap(*this, process_);
  }
  folder_->leave([this, entered] {
    if (!entered) {
      return;
    }
    reap_dead_processes(*this);
    if (last_action_) {
      last_action_(*this);
    }
  });
  folder_.reset();
}

uint32_t Run::add_faults(const FaultScript& more) {
  const auto first = static_cast<uint32_t>(faults_.faults.size());
  faults_.faults.insert(faults_.faults.end(), more.faults.begin(), more.faults.end());
  return first;
}

bool Run::sees(int device) const {
  return settings_.host == kAllHosts ||
         description_.devices[static_cast<size_t>(device)].host == settings_.host;
}

std::string Run::visible_name(int device) const {
  const DeviceDescription& description = description_.devices[static_cast<size_t>(device)];
  return settings_.host == kAllHosts ? description.full_name() : description.name;
}

uint64_t Run::now_ns() const {
  if (time_of_event_ns != kNoTime) {
    return time_of_event_ns;
  }
  return virtual_ ? virtual_now_ns_.load(std::memory_order_relaxed)
                  : monotonic_ns() - header().began_ns;
}

// Timed and direct processes cannot share a run either.
uint64_t Run::digest() const {
  return std::hash<std::string>()(settings_.fabric_text + '\0' + settings_.faults_text + '\0' +
                                  (timed_ ? "timed" : "direct"));
}

// A full file system would end the process at the first touch of a page; so have the pages made
// while there is a way out.
bool Run::back(uint64_t offset, uint64_t bytes) const {
  if (!folder_) {
    return true;
  }
  struct statvfs facts {};
  if (::statvfs("/dev/shm", &facts) == 0 &&
      facts.f_bavail * facts.f_frsize < bytes + kRoomToSpare) {
    return false;
  }
  int result = 0;
  do {
    result =
        ::fallocate(folder_->segment(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno == EOPNOTSUPP;
}

bool Run::back_table(std::atomic<uint32_t>& backed, uint64_t offset, uint32_t count, uint32_t most,
                     uint64_t entry_bytes) const {
  const uint32_t ready = backed.load();
  if (count <= ready) {
    return true;
  }
  const auto more = static_cast<uint32_t>(std::max<uint64_t>(1, kStep / entry_bytes));
  const uint32_t wanted = std::min(most, std::max(count, ready + more));
  if (!back(offset + ready * entry_bytes, (wanted - ready) * entry_bytes)) {
    return false;
  }
  backed.store(wanted);  // another process may have done the same at the same time
  return true;
}

AtTime::AtTime(uint64_t time_ns) { time_of_event_ns = time_ns; }
AtTime::~AtTime() { time_of_event_ns = kNoTime; }

}  // namespace rocelane::softverbs
