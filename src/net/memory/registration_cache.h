#pragma once

// The registrations in one protection domain, shared by all who need the same memory in the same
// way. NCCL registers a buffer once a connection, and registering pins pages: it may take
// milliseconds and it uses up the NIC's key table.
//
// A wish is served by a live registration of its class whose range contains it. Nothing is kept for
// later: who drops the last reference deregisters before going on, because NCCL frees or unmaps the
// memory next. For the same reason a registration is found only while somebody holds it who asked
// for the whole of it: who asked for a part does not know whether the rest is still the same
// memory.
//
// Threads: all of it from any thread, but not on the data path. The mutex is never held while a
// driver registers or deregisters. Two threads that want the same memory at the same moment may
// therefore both register it; the later one finds the other's, drops its own and shares. That is
// rare, harmless, and lets nobody wait for somebody else's failure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/result.h"
#include "net/memory/containment_index.h"
#include "net/memory/registration_request.h"

namespace rocelane::net {

struct MemoryKeys {
  uint32_t local = 0;
  uint32_t remote = 0;
};

// What a driver has registered. It is deregistered when `owner` goes.
struct RegisteredRegion {
  MemoryKeys keys;
  std::shared_ptr<void> owner;
};

// Registers with a driver. Called by several threads at a time.
using Registrar = std::function<Result<RegisteredRegion>(const RegistrationRequest&)>;

class SharedRegistration;

class RegistrationCache : public std::enable_shared_from_this<RegistrationCache> {
 public:
  static std::shared_ptr<RegistrationCache> create(Registrar registrar);

  // Fails with the registrar's error, and leaves nothing behind then.
  Result<SharedRegistration> share(const RegistrationRequest& wanted);

 private:
  friend class SharedRegistration;

  struct Entry {
    MemoryRange range;
    RegistrationClass sharing_class;
    RegisteredRegion region;
    size_t holders_of_all = 0;  // under the mutex; in the index while there is one
  };
  using Entries = ContainmentIndex<std::shared_ptr<Entry>>;

  explicit RegistrationCache(Registrar registrar) : registrar_(std::move(registrar)) {}
  std::optional<SharedRegistration> find_locked(const RegistrationRequest& wanted);
  void stop_finding(Entry& entry);

  const Registrar registrar_;
  std::mutex mutex_;
  std::map<RegistrationClass, Entries> classes_;  // none of them empty
};

// One reference to a registration. Its owner ends all use of the keys first.
class SharedRegistration {
 public:
  SharedRegistration() = default;
  SharedRegistration(SharedRegistration&& other) noexcept;
  SharedRegistration& operator=(SharedRegistration other) noexcept;
  ~SharedRegistration();

  MemoryKeys keys() const { return keys_; }

 private:
  friend class RegistrationCache;
  SharedRegistration(std::shared_ptr<RegistrationCache> cache,
                     std::shared_ptr<RegistrationCache::Entry> entry, const MemoryRange& wanted);

  // Destroyed from the bottom up: the cache holds what the registration needs to be undone.
  std::shared_ptr<RegistrationCache> cache_;
  std::shared_ptr<RegistrationCache::Entry> entry_;
  bool holds_all_ = false;
  MemoryKeys keys_;
};

}  // namespace rocelane::net
