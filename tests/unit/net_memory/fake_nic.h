#pragma once

// A NIC that knows what is registered with it, refuses when told to, and remembers the order of
// events. Any thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/memory/registration_cache.h"

namespace rocelane::net {

class FakeNic : public std::enable_shared_from_this<FakeNic> {
 public:
  static std::shared_ptr<FakeNic> create() { return std::make_shared<FakeNic>(); }

  Registrar registrar();
  std::shared_ptr<RegistrationCache> cache() { return RegistrationCache::create(registrar()); }

  // From now on the next `count` registrations are refused, those after them not.
  void refuse_next(size_t count);
  // Called at the begin of every registration, outside of the lock. Set while nobody registers.
  void set_pause(std::function<void()> pause) { pause_ = std::move(pause); }

  size_t live() const;
  size_t registered() const;    // ever
  size_t deregistered() const;  // ever
  // Whether the key may be used for the range, in the way its class says.
  bool accepts(MemoryKeys keys, const MemoryRange& range, const RegistrationClass& wanted) const;
  // "+1 -1 +2": registered key 1, deregistered it, …
  std::string events() const;

 private:
  Result<RegisteredRegion> register_region(const RegistrationRequest& wanted);
  void deregister(uint32_t key);

  std::function<void()> pause_;
  mutable std::mutex mutex_;
  std::map<uint32_t, RegistrationRequest> regions_;
  std::string events_;
  size_t to_refuse_ = 0;
  uint32_t last_key_ = 0;
  size_t deregistered_ = 0;
};

// The remote key is told from the local one.
inline constexpr uint32_t kRemoteKeyBit = 0x80000000;

inline RegistrationRequest host_memory(uint64_t begin, uint64_t end, bool relaxed = false) {
  return {{begin, end}, {MemoryKind::kHost, relaxed, {}}, {}};
}
inline RegistrationRequest gpu_memory(uint64_t begin, uint64_t end, bool relaxed = false) {
  return {{begin, end}, {MemoryKind::kGpu, relaxed, {}}, {}};
}
inline RegistrationRequest dma_buf(uint64_t begin, uint64_t end, const DmaBufIdentity& identity,
                                   int descriptor = 5) {
  return {{begin, end},
          {MemoryKind::kGpu, false, identity},
          DmaBuf{descriptor, begin - identity.origin}};
}

}  // namespace rocelane::net
