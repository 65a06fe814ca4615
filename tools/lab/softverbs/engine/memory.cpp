#include "softverbs/engine/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/uio.h>

namespace rocelane::softverbs {
namespace {

constexpr int kGenerationBits = 8;
constexpr int kPatience = 1 << 20;  // yields; a copier that died in the middle never lets go

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
  if (from_here && to.process() == run.process()) {
    copy_here(from.all(), to.all());
    return true;
  }
  const auto bytes = static_cast<ssize_t>(std::min(sum(from.all()), sum(to.all())));
  if (bytes == 0) {
    return true;
  }
  const Pieces& mine = from_here ? from : to;
  const Pieces& theirs = from_here ? to : from;
  iovec local[kMostSges];
  iovec remote[kMostSges];
  const size_t locals = to_vectors(mine.all(), local);
  const size_t remotes = to_vectors(theirs.all(), remote);
  const pid_t pid = run.process_slot(theirs.process()).pid;
  const ssize_t copied = from_here ? ::process_vm_writev(pid, local, locals, remote, remotes, 0)
                                   : ::process_vm_readv(pid, local, locals, remote, remotes, 0);
  return copied == bytes;
}

HeldRegions::~HeldRegions() {
  for (size_t i = 0; i < count_; ++i) {
    held_[i]->readers.fetch_sub(1);
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
  region.readers.fetch_add(1);
  held_[count_++] = &region;
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
  const uint32_t slot =
      claim_slot(run.header().region_table, run.at(run.header().regions), kMostRegions);
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
  for (int i = 0; i < kPatience && region.readers.load() != 0; ++i) {
    ::sched_yield();
  }
  Device& device = run.device(run.context(region.context).device);
  device.counters.live_regions.fetch_sub(1);
  device.counters.deregistrations.add(1);
  run.domain(region.domain).users.fetch_sub(1);
  release_slot(run.header().region_table, run.at(run.header().regions), slot);
}

}  // namespace rocelane::softverbs
