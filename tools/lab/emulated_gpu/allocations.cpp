#include "allocations.h"

#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

#include "settings.h"

namespace rocelane::lab {
namespace {

constexpr size_t kRetiredRanges = 256;

size_t mapped_bytes(size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

bool contains(const Allocation& allocation, uintptr_t address) {
  return address >= allocation.start && address - allocation.start < allocation.bytes;
}

bool is_ours(MemoryKind kind) { return kind != MemoryKind::kRegisteredHost; }

}  // namespace

Allocations& Allocations::of_process() {
  // Never destroyed: stream threads may still use the memory while the process ends.
  static auto* const instance = new Allocations(settings().ok() ? settings()->gpu_memory_bytes : 0);
  return *instance;
}

Allocations::~Allocations() {
  for (const auto& [start, allocation] : table_) {
    if (is_ours(allocation.kind)) {
      ::munmap(pointer(start), mapped_bytes(allocation.bytes));
    }
  }
  for (const Allocation& allocation : retired_) {
    ::munmap(pointer(allocation.start), mapped_bytes(allocation.bytes));
  }
}

void* Allocations::allocate(MemoryKind kind, int device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  uint64_t& used = used_bytes_[device];
  if (kind == MemoryKind::kDevice && bytes > device_capacity_ - used) {
    return nullptr;
  }
  void* start = ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return nullptr;
  }
  const auto address = reinterpret_cast<uintptr_t>(start);
  table_.emplace(address, Allocation{address, bytes, kind, device});
  if (kind == MemoryKind::kDevice) {
    used += bytes;
  }
  return start;
}

ReleaseResult Allocations::release(MemoryKind kind, const void* start) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(start);
  const auto found = table_.find(address);
  if (found == table_.end() || found->second.kind != kind) {
    for (const Allocation& old : retired_) {
      if (old.start == address && old.kind == kind) {
        return ReleaseResult::kAlreadyFreed;
      }
    }
    return ReleaseResult::kNotAnAllocation;
  }
  retire(found->second);
  table_.erase(found);
  return ReleaseResult::kReleased;
}

void Allocations::release_all_of(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(table_, [&](const auto& entry) {
    const Allocation& allocation = entry.second;
    const bool gone = allocation.device == device && allocation.kind == MemoryKind::kDevice;
    if (gone) {
      retire(allocation);
    }
    return gone;
  });
}

// The caller holds mutex_.
void Allocations::retire(const Allocation& allocation) {
  if (allocation.kind == MemoryKind::kDevice) {
    used_bytes_[allocation.device] -= allocation.bytes;
  }
  // Mapping anew over the range gives its memory back and keeps its addresses.
  ::mmap(pointer(allocation.start), mapped_bytes(allocation.bytes), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  retired_.push_back(allocation);
  if (retired_.size() > kRetiredRanges) {
    ::munmap(pointer(retired_.front().start), mapped_bytes(retired_.front().bytes));
    retired_.pop_front();
  }
}

bool Allocations::register_host(void* start, size_t bytes, int device) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(start);
  const auto next = table_.lower_bound(address);
  const bool hits_next = next != table_.end() && next->first - address < bytes;
  const auto before = at_or_before(address);
  if (hits_next || (before != table_.end() && contains(before->second, address))) {
    return false;
  }
  table_.emplace(address, Allocation{address, bytes, MemoryKind::kRegisteredHost, device});
  return true;
}

bool Allocations::unregister_host(const void* start) {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(reinterpret_cast<uintptr_t>(start));
  if (found == table_.end() || found->second.kind != MemoryKind::kRegisteredHost) {
    return false;
  }
  table_.erase(found);
  return true;
}

// The caller holds mutex_.
Allocations::Table::const_iterator Allocations::at_or_before(uintptr_t address) const {
  const auto after = table_.upper_bound(address);
  return after == table_.begin() ? table_.end() : std::prev(after);
}

std::optional<Allocation> Allocations::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto value = reinterpret_cast<uintptr_t>(address);
  const auto found = at_or_before(value);
  if (found == table_.end() || !contains(found->second, value)) {
    return std::nullopt;
  }
  return found->second;
}

RangeState Allocations::state_of(const void* start, size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(start);
  const auto found = at_or_before(address);
  if (found != table_.end() && contains(found->second, address)) {
    const size_t behind_start = found->second.bytes - (address - found->second.start);
    return bytes <= behind_start ? RangeState::kKnown : RangeState::kOverrun;
  }
  for (const Allocation& old : retired_) {
    if (contains(old, address)) {
      return RangeState::kFreed;
    }
  }
  return RangeState::kPageable;
}

uint64_t Allocations::used_bytes(int device) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_bytes_.find(device);
  return found == used_bytes_.end() ? 0 : found->second;
}

}  // namespace rocelane::lab
