#include "fake_nic.h"

#include <utility>

namespace rocelane::net {

Registrar FakeNic::registrar() {
  return [nic = shared_from_this()](const RegistrationRequest& wanted) {
    return nic->register_region(wanted);
  };
}

Result<RegisteredRegion> FakeNic::register_region(const RegistrationRequest& wanted) {
  if (pause_) {
    pause_();
  }
  const std::lock_guard lock(mutex_);
  if (to_refuse_ > 0) {
    --to_refuse_;
    return Error{ErrorCode::kSystem, "the fake NIC has no room"};
  }
  const uint32_t key = ++last_key_;
  regions_.emplace(key, wanted);
  events_ += (events_.empty() ? "+" : " +") + std::to_string(key);
  // The deleter has to have something to delete.
  std::shared_ptr<void> owner(new uint32_t(key), [nic = shared_from_this()](uint32_t* owned) {
    nic->deregister(*owned);
    delete owned;
  });
  return RegisteredRegion{{key, key | kRemoteKeyBit}, std::move(owner)};
}

void FakeNic::deregister(uint32_t key) {
  const std::lock_guard lock(mutex_);
  deregistered_ += regions_.erase(key);
  events_ += " -" + std::to_string(key);
}

void FakeNic::refuse_next(size_t count) {
  const std::lock_guard lock(mutex_);
  to_refuse_ = count;
}

size_t FakeNic::live() const {
  const std::lock_guard lock(mutex_);
  return regions_.size();
}

size_t FakeNic::registered() const {
  const std::lock_guard lock(mutex_);
  return last_key_;
}

size_t FakeNic::deregistered() const {
  const std::lock_guard lock(mutex_);
  return deregistered_;
}

bool FakeNic::accepts(MemoryKeys keys, const MemoryRange& range,
                      const RegistrationClass& wanted) const {
  const std::lock_guard lock(mutex_);
  const auto region = regions_.find(keys.local);
  return region != regions_.end() && keys.remote == (keys.local | kRemoteKeyBit) &&
         region->second.range.contains(range) && region->second.sharing_class == wanted;
}

std::string FakeNic::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

}  // namespace rocelane::net
