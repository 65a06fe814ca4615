#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace rocelane::lab {

enum class MemoryKind : uint8_t {
  kDevice,
  kPinnedHost,      // cudaHostAlloc
  kRegisteredHost,  // cudaHostRegister: the program's own memory
};

struct Allocation {
  uintptr_t start = 0;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;
};

// What CUDA knows about a range of addresses.
enum class RangeState : uint8_t {
  kPageable,  // nothing: ordinary host memory
  kKnown,     // all of it lies in one allocation
  kOverrun,   // starts in an allocation and ends behind it
  kFreed,     // was given back not long ago
};

enum class ReleaseResult : uint8_t { kReleased, kAlreadyFreed, kNotAnAllocation };

// Every device and pinned allocation of the process. Thread-safe.
// Device memory is ordinary memory of the process; freed address ranges stay reserved and
// inaccessible for a while, so that a stale pointer is found out instead of hitting a new owner.
class Allocations {
 public:
  static Allocations& of_process();

  explicit Allocations(uint64_t device_memory_bytes) : device_capacity_(device_memory_bytes) {}
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // Zero-filled and page-aligned; nullptr when the device or the machine has no such room.
  void* allocate(MemoryKind kind, int device, size_t bytes);
  // `kind` must be the kind it was allocated with.
  ReleaseResult release(MemoryKind kind, const void* start);
  void release_all_of(int device);

  bool register_host(void* start, size_t bytes, int device);  // false: overlaps a known range
  bool unregister_host(const void* start);

  std::optional<Allocation> find(const void* address) const;
  RangeState state_of(const void* start, size_t bytes) const;
  uint64_t used_bytes(int device) const;
  uint64_t capacity_bytes() const { return device_capacity_; }

 private:
  using Table = std::map<uintptr_t, Allocation>;
  Table::const_iterator at_or_before(uintptr_t address) const;
  void retire(const Allocation& allocation);

  const uint64_t device_capacity_;
  mutable std::mutex mutex_;
  Table table_;
  std::map<int, uint64_t> used_bytes_;
  std::deque<Allocation> retired_;
};

}  // namespace rocelane::lab
