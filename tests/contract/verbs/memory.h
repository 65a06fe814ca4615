#pragma once

// Registered memory with known contents.

#include <cstddef>
#include <cstdint>

#include "objects.h"

namespace rocelane::contract {

constexpr int kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// What a requester names at its peer.
struct RemoteMemory {
  uint64_t address = 0;
  uint32_t rkey = 0;
};

// Whole pages of memory, never given back to the system while a device may still use them.
class Pages {
 public:
  explicit Pages(size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

class Memory {
 public:
  // A null region means that the device refused; errno tells why.
  Memory(ibv_pd* domain, size_t bytes, int access = kAllAccess);

  uint8_t* data() const { return pages_.data(); }
  size_t size() const { return pages_.size(); }
  ibv_mr* region() const { return region_.get(); }
  void deregister() { region_.reset(); }

  ibv_sge piece(size_t offset, size_t bytes) const;
  RemoteMemory remote(size_t offset = 0) const;

  // Bytes that depend on their place and on `seed`.
  void fill(uint32_t seed);
  void fill_with(uint8_t value);
  // The first byte of [begin, end) that is not `value`, or end.
  size_t first_other(uint8_t value, size_t begin, size_t end) const;

 private:
  Pages pages_;
  Region region_;
};

// The byte that Memory::fill(seed) puts at `offset`.
uint8_t pattern(uint32_t seed, size_t offset);

}  // namespace rocelane::contract
