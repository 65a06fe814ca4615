#include "memory.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

namespace rocelane::contract {

Pages::Pages(size_t bytes) : bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory != MAP_FAILED) {
    data_ = static_cast<uint8_t*>(memory);
  }
}

Pages::~Pages() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

Memory::Memory(ibv_pd* domain, size_t bytes, int access)
    : pages_(bytes),
      region_(ibv_reg_mr(domain, pages_.data(), bytes, static_cast<unsigned>(access))) {}

ibv_sge Memory::piece(size_t offset, size_t bytes) const {
  return {reinterpret_cast<uint64_t>(data() + offset), static_cast<uint32_t>(bytes), region_->lkey};
}

RemoteMemory Memory::remote(size_t offset) const {
  return {reinterpret_cast<uint64_t>(data() + offset), region_->rkey};
}

void Memory::fill(uint32_t seed) {
  for (size_t i = 0; i < size(); ++i) {
    data()[i] = pattern(seed, i);
  }
}

void Memory::fill_with(uint8_t value) { std::memset(data(), value, size()); }

size_t Memory::first_other(uint8_t value, size_t begin, size_t end) const {
  const uint8_t* found =
      std::find_if(data() + begin, data() + end, [value](uint8_t byte) { return byte != value; });
  return static_cast<size_t>(found - data());
}

uint8_t pattern(uint32_t seed, size_t offset) {
  // Not periodic in any power of two, so that swapped pages or packets are noticed.
  const uint64_t mixed = (offset + 1) * 0x9E3779B97F4A7C15U + seed * 0xC2B2AE3D27D4EB4FU;
  return static_cast<uint8_t>(mixed >> 56);
}

}  // namespace rocelane::contract
