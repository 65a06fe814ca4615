#include "softverbs/engine/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include "softverbs/segment/process_table.h"

namespace rocelane::softverbs {
namespace {

constexpr int kGenerationBits = 8;

uint32_t slot_of(uint32_t key) { return key >> kGenerationBits; }
uint32_t generation_of(uint32_t key) { return key & ((1U << kGenerationBits) - 1); }

bool is_current(const Region& region, uint32_t key) {
  return region.use.load() == Use::kLive &&
         (region.generation.load() & ((1U << kGenerationBits) - 1)) == generation_of(key);
}

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// Programs poll memory that a NIC writes, which ThreadSanitizer takes for a race. It does not see
// what a NIC does, and so must not see this either.
#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread"))) void move_bytes(void* to, const void* from, size_t bytes) {
  auto* const target = static_cast<volatile char*>(to);
  const auto* const source = static_cast<const volatile char*>(from);
  for (size_t i = 0; i < bytes; ++i) {
    target[i] = source[i];
  }
}
#else
void move_bytes(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

void copy_here(std::span<const Piece> from, std::span<const Piece> to) {
  size_t i = 0;
  size_t j = 0;
  uint64_t taken = 0;
  uint64_t filled = 0;
  while (i < from.size() && j < to.size()) {
    const uint64_t bytes = std::min(from[i].bytes - taken, to[j].bytes - filled);
    // A zero-length piece may have no address at all.
    if (bytes > 0) {
      move_bytes(pointer(to[j].address + filled), pointer(from[i].address + taken), bytes);
    }
    taken += bytes;
    filled += bytes;
    if (taken == from[i].bytes) {
      ++i;
      taken = 0;
    }
    if (filled == to[j].bytes) {
      ++j;
      filled = 0;
    }
  }
}

uint64_t sum(std::span<const Piece> pieces) {
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) {
    bytes += piece.bytes;
  }
  return bytes;
}

size_t to_vectors(std::span<const Piece> pieces, iovec* vectors) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    vectors[i] = {pointer(pieces[i].address), pieces[i].bytes};
  }
  return pieces.size();
}

bool is_held(const Run& run, uint32_t slot) {
  const uint32_t high = run.header().process_table.high.load();
  for (uint32_t number = 0; number < high; ++number) {
    const Process& process = run.process_slot(number);
    const uint32_t places = process.holds_high.load();
    for (uint32_t place = 0; place < places; ++place) {
      if (process.holds[place].load() == slot + 1) {
        return true;
      }
    }
  }
  return false;
}

// What a process that is killed holds is let go when somebody finds out.
void wait_for_copiers(Run& run, uint32_t slot) {
  constexpr int kYields = 20;
  constexpr useconds_t kNapUs = 1000;
  for (int turn = 0; is_held(run, slot); ++turn) {
    if (turn < kYields) {
      ::sched_yield();
    } else {
      ::usleep(kNapUs);
      reap_now_and_then(run);
    }
  }
}

}  // namespace

Pieces Pieces::part(uint64_t offset, uint64_t bytes) const {
  Pieces result(process_);
  for (const Piece& piece : all()) {
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const uint64_t here = std::min(piece.bytes - offset, bytes);
    if (here > 0) {
      result.add(piece.address + offset, here);
    }
    bytes -= here;
    offset = 0;
  }
  return result;
}

bool copy(const Run& run, const Pieces& from, const Pieces& to) {
  const bool from_here = from.process() == run.process();
  const bool to_here = to.process() == run.process();
  if (from_here && to_here) {
    copy_here(from.all(), to.all());
    return true;
  }
  if (!from_here && !to_here) {
    return false;
  }
  // The kernel copies a little less than 2 GiB at once.
  constexpr uint64_t kAtOnce = uint64_t{1} << 30;
  const uint64_t bytes = std::min(sum(from.all()), sum(to.all()));
  const pid_t pid = run.process_slot((from_here ? to : from).process()).pid;
  for (uint64_t done = 0; done < bytes; done += kAtOnce) {
    const uint64_t more = std::min(kAtOnce, bytes - done);
    const Pieces mine = (from_here ? from : to).part(done, more);
    const Pieces theirs = (from_here ? to : from).part(done, more);
    iovec local[kMostSges];
    iovec remote[kMostSges];
    const size_t locals = to_vectors(mine.all(), local);
    const size_t remotes = to_vectors(theirs.all(), remote);
    const ssize_t copied = from_here ? ::process_vm_writev(pid, local, locals, remote, remotes, 0)
                                     : ::process_vm_readv(pid, local, locals, remote, remotes, 0);
    if (copied != static_cast<ssize_t>(more)) {
      return false;
    }
  }
  return true;
}

HeldRegions::~HeldRegions() {
  for (size_t i = 0; i < count_; ++i) {
    held_[i]->store(0);
  }
}

void HeldRegions::hold(uint32_t slot) {
  Process& process = run_.process_slot(run_.process());
  for (uint32_t place = 0;; place = (place + 1) % kMostHolds) {
    uint32_t free = 0;
    if (process.holds[place].load(std::memory_order_relaxed) != 0 ||
        !process.holds[place].compare_exchange_strong(free, slot + 1)) {
      continue;
    }
    held_[count_++] = &process.holds[place];
    uint32_t high = process.holds_high.load();
    while (high <= place && !process.holds_high.compare_exchange_weak(high, place + 1)) {
    }
    return;
  }
}

bool HeldRegions::translate(uint32_t key, uint32_t domain, uint64_t start, uint64_t bytes,
                            uint32_t access, uint64_t* address) {
  const uint32_t slot = slot_of(key);
  if (slot >=
      std::min(run_.header().region_table.high.load(std::memory_order_relaxed), kMostRegions)) {
    return false;
  }
  Region& region = run_.region(slot);
  // Held before it is looked at: whoever deregisters first ends the region, then waits for the
  // holders.
  hold(slot);
  if (!is_current(region, key) || region.domain != domain || (region.access & access) != access ||
      start < region.start || bytes > region.bytes || start - region.start > region.bytes - bytes) {
    return false;
  }
  *address = region.address + (start - region.start);
  return true;
}

bool find_local(uint32_t domain, const ibv_sge* sges, uint32_t count, uint32_t access,
                HeldRegions& held, Pieces* pieces) {
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t address = 0;
    if (sges[i].length == 0) {
      continue;
    }
    if (!held.translate(sges[i].lkey, domain, sges[i].addr, sges[i].length, access, &address)) {
      return false;
    }
    pieces->add(address, sges[i].length);
  }
  return true;
}

uint32_t register_region(Run& run, uint32_t context, uint32_t domain, uint64_t start,
                         uint64_t bytes, uint64_t address, uint32_t access) {
  const uint32_t device_number = run.context(context).device;
  Device& device = run.device(device_number);
  const uint32_t most = run.description().devices[device_number].limits.memory_regions;
  if (device.counters.live_regions.fetch_add(1) >= most) {
    device.counters.live_regions.fetch_sub(1);
    errno = ENOMEM;
    return 0;
  }
  const uint32_t slot = run.claim(run.header().region_table, run.header().regions, kMostRegions);
  if (slot == kNone) {
    device.counters.live_regions.fetch_sub(1);
    errno = ENOMEM;
    return 0;
  }
  Region& region = run.region(slot);
  region.process = run.process();
  region.context = context;
  region.domain = domain;
  region.access = access;
  region.start = start;
  region.bytes = bytes;
  region.address = address;
  const uint32_t generation = region.generation.fetch_add(1) + 1;
  region.use.store(Use::kLive);
  run.domain(domain).users.fetch_add(1);
  device.counters.registrations.add(1);
  return (slot << kGenerationBits) | (generation & ((1U << kGenerationBits) - 1));
}

void deregister_region(Run& run, uint32_t key) { deregister_region_slot(run, slot_of(key)); }

void deregister_region_slot(Run& run, uint32_t slot) {
  Region& region = run.region(slot);
  region.use.store(Use::kClaimed);
  // Of a process that has ended nothing can be copied any more.
  if (region.process == run.process()) {
    wait_for_copiers(run, slot);
  }
  Device& device = run.device(run.context(region.context).device);
  device.counters.live_regions.fetch_sub(1);
  device.counters.deregistrations.add(1);
  run.domain(region.domain).users.fetch_sub(1);
  release_slot(run.header().region_table, run.at(run.header().regions), slot);
}

}  // namespace rocelane::softverbs
