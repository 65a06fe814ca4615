#include "net/memory/registration_cache.h"

#include <utility>

namespace rocelane::net {

std::shared_ptr<RegistrationCache> RegistrationCache::create(Registrar registrar) {
  return std::shared_ptr<RegistrationCache>(new RegistrationCache(std::move(registrar)));
}

Result<SharedRegistration> RegistrationCache::share(const RegistrationRequest& wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (auto known = find_locked(wanted)) {
      return std::move(*known);
    }
  }
  auto registered = registrar_(wanted);
  if (!registered) {
    return std::move(registered).error();
  }
  const auto entry =
      std::make_shared<Entry>(Entry{wanted.range, wanted.sharing_class, std::move(*registered), 0});
  // Below the entry: when somebody was faster, ours is deregistered after the mutex is free again.
  const std::lock_guard lock(mutex_);
  if (auto known = find_locked(wanted)) {
    return std::move(*known);
  }
  classes_[wanted.sharing_class].add(wanted.range, entry);
  return SharedRegistration(shared_from_this(), entry, wanted.range);
}

std::optional<SharedRegistration> RegistrationCache::find_locked(
    const RegistrationRequest& wanted) {
  const auto entries = classes_.find(wanted.sharing_class);
  if (entries == classes_.end()) {
    return std::nullopt;
  }
  const std::shared_ptr<Entry>* entry = entries->second.find(wanted.range);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return SharedRegistration(shared_from_this(), *entry, wanted.range);
}

// By a holder of all of it, which keeps it alive until the mutex is free again.
void RegistrationCache::stop_finding(Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (--entry.holders_of_all > 0) {
    return;
  }
  const auto entries = classes_.find(entry.sharing_class);
  entries->second.take(entry.range);
  if (entries->second.is_empty()) {
    classes_.erase(entries);
  }
}

// By the cache, which holds its mutex.
SharedRegistration::SharedRegistration(std::shared_ptr<RegistrationCache> cache,
                                       std::shared_ptr<RegistrationCache::Entry> entry,
                                       const MemoryRange& wanted)
    : cache_(std::move(cache)),
      entry_(std::move(entry)),
      holds_all_(entry_->range == wanted),
      keys_(entry_->region.keys) {
  entry_->holders_of_all += holds_all_ ? 1U : 0U;
}

SharedRegistration::SharedRegistration(SharedRegistration&& other) noexcept
    : cache_(std::move(other.cache_)),
      entry_(std::move(other.entry_)),
      holds_all_(std::exchange(other.holds_all_, false)),
      keys_(std::exchange(other.keys_, {})) {}

SharedRegistration& SharedRegistration::operator=(SharedRegistration other) noexcept {
  std::swap(cache_, other.cache_);
  std::swap(entry_, other.entry_);
  std::swap(holds_all_, other.holds_all_);
  std::swap(keys_, other.keys_);
  return *this;
}

SharedRegistration::~SharedRegistration() {
  if (holds_all_) {
    cache_->stop_finding(*entry_);
  }
}

}  // namespace rocelane::net
