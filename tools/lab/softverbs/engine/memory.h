#pragma once

// Registered memory: keys, checks, and copies between the memories of two processes.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <infiniband/verbs.h>

#include "softverbs/description/bounds.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

// Some bytes in the memory of a process.
struct Piece {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// A message's place in the memory of one process, as up to kMostSges pieces.
class Pieces {
 public:
  explicit Pieces(uint32_t process) : process_(process) {}
  void add(uint64_t address, uint64_t bytes) { pieces_[count_++] = {address, bytes}; }
  uint32_t process() const { return process_; }
  std::span<const Piece> all() const { return {pieces_.data(), count_}; }
  // Without the first `offset` bytes, and at most `bytes` of the rest.
  Pieces part(uint64_t offset, uint64_t bytes) const;

 private:
  uint32_t process_;
  size_t count_ = 0;
  std::array<Piece, kMostSges> pieces_;
};

// Copies as many bytes as the shorter side has. False when neither side is this process, or when
// the other process is gone, or its memory is.
bool copy(const Run& run, const Pieces& from, const Pieces& to);

// Regions that must not be deregistered while this lives.
class HeldRegions {
 public:
  explicit HeldRegions(Run& run) : run_(run) {}
  ~HeldRegions();
  HeldRegions(const HeldRegions&) = delete;
  HeldRegions& operator=(const HeldRegions&) = delete;

  // Where the bytes lie in the memory of the region's owner. False when the key names no live
  // region, or one of another protection domain, or one that does not hold all the bytes or allow
  // `access` (ibv_access_flags).
  bool translate(uint32_t key, uint32_t domain, uint64_t start, uint64_t bytes, uint32_t access,
                 uint64_t* address);

 private:
  void hold(uint32_t slot);

  Run& run_;
  size_t count_ = 0;
  std::array<std::atomic<uint32_t>*, kMostSges + 1> held_;
};

// The memory that a local gather or scatter list names. False when a key is wrong.
bool find_local(uint32_t domain, const ibv_sge* sges, uint32_t count, uint32_t access,
                HeldRegions& held, Pieces* pieces);

// The key of a new region; 0 and errno (ENOMEM) when the device has no more. `address`: where the
// owner has the bytes that work requests name from `start` on.
uint32_t register_region(Run& run, uint32_t context, uint32_t domain, uint64_t start,
                         uint64_t bytes, uint64_t address, uint32_t access);
// Returns when no copy uses the region any more.
void deregister_region(Run& run, uint32_t key);
void deregister_region_slot(Run& run, uint32_t slot);

}  // namespace rocelane::softverbs
