#include "net/memory/verbs_registrar.h"

#include <utility>

#include "verbs/objects.h"

namespace rocelane::net {
namespace {

Result<verbs::MemoryRegion> register_with(ibv_pd* domain, const RegistrationRequest& wanted) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     (wanted.sharing_class.relaxed_ordering ? IBV_ACCESS_RELAXED_ORDERING : 0);
  const MemoryRange& range = wanted.range;
  if (wanted.dma_buf.has_value()) {
    return verbs::register_dma_buf(domain, wanted.dma_buf->offset, range.bytes(), range.begin,
                                   wanted.dma_buf->descriptor, access);
  }
  return verbs::register_memory(domain, reinterpret_cast<void*>(range.begin), range.bytes(),
                                access);
}

}  // namespace

Registrar verbs_registrar(std::shared_ptr<const Port> port) {
  return [port = std::move(port)](const RegistrationRequest& wanted) -> Result<RegisteredRegion> {
    auto region = register_with(port->domain(), wanted);
    if (!region) {
      return std::move(region).error();
    }
    const MemoryKeys keys{(*region)->lkey, (*region)->rkey};
    return RegisteredRegion{keys, std::make_shared<verbs::MemoryRegion>(std::move(*region))};
  };
}

std::shared_ptr<RegistrationCache> RegistrationCaches::of(const std::shared_ptr<const Port>& port) {
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  // A cache keeps its protection domain, so a known one's address means the same domain still.
  std::weak_ptr<RegistrationCache>& known = known_[port->domain()];
  std::shared_ptr<RegistrationCache> cache = known.lock();
  if (cache == nullptr) {
    cache = RegistrationCache::create(verbs_registrar(port));
    known = cache;
  }
  return cache;
}

}  // namespace rocelane::net
