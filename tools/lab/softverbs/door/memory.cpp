// Protection domains and memory regions.

#include "softverbs/engine/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "softverbs/door/objects.h"
#include "softverbs/include/softverbs/dma_buf_export.h"

// The header has them as macros that choose between functions at compile time.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace rocelane::softverbs::door {
namespace {

constexpr uint32_t kNeedLocalWrite = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr uint32_t kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_OPTIONAL_RANGE;

uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// Whether the pages exist; a NIC would pin them now.
bool is_mapped(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPagesAtOnce = 65536;
  const uint64_t page = page_bytes();
  std::vector<unsigned char> present(kPagesAtOnce);
  const uint64_t end = address + bytes;
  for (uint64_t at = address / page * page; at < end; at += kPagesAtOnce * page) {
    const uint64_t length = std::min(end - at, kPagesAtOnce * page);
    if (mincore(reinterpret_cast<void*>(at), length, present.data()) != 0) {
      return false;
    }
  }
  return true;
}

int check_access(ibv_pd* domain, uint32_t access) {
  if (has_failed(domain->context)) {
    return EIO;
  }
  if ((access & ~kKnownAccess) != 0 ||
      ((access & kNeedLocalWrite) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
    return EINVAL;
  }
  const bool relaxed = (access & IBV_ACCESS_RELAXED_ORDERING) != 0;
  return relaxed && !description_of(*ours(domain->context)).relaxed_ordering ? EOPNOTSUPP : 0;
}

// `address`: where the bytes are; `start`: how work requests name them.
ibv_mr* make_region(ibv_pd* domain, void* shown, uint64_t address, uint64_t bytes, uint64_t start,
                    uint32_t access) {
  auto* object = static_cast<RegionObject*>(calloc(1, sizeof(RegionObject)));
  const uint32_t key = register_region(run(), ours(domain->context)->slot, ours(domain)->slot,
                                       start, bytes, address, access);
  if (key == 0) {
    free(object);
    errno = ENOMEM;
    return nullptr;
  }
  ibv_mr& region = object->region;
  region.context = domain->context;
  region.pd = domain;
  region.addr = shown;
  region.length = bytes;
  region.handle = key;
  region.lkey = key;
  region.rkey = key;
  return &region;
}

ibv_mr* register_host_memory(ibv_pd* domain, void* data, size_t bytes, uint64_t start,
                             uint32_t access) {
  const auto address = reinterpret_cast<uint64_t>(data);
  int error = check_access(domain, access);
  if (error == 0 && (bytes == 0 || address + bytes < address)) {
    error = EINVAL;
  }
  if (error == 0 && !is_mapped(address, bytes)) {
    error = EFAULT;
  }
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  return make_region(domain, data, address, bytes, start, access);
}

}  // namespace
}  // namespace rocelane::softverbs::door

using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

SOFTVERBS_API ibv_pd* ibv_alloc_pd(ibv_context* context) {
  ContextObject* owner = ours(context);
  Run& current = run();
  auto& live = current.device(owner->device).counters.live_domains;
  const bool allowed =
      !has_failed(context) && live.fetch_add(1) < description_of(*owner).limits.protection_domains;
  const uint32_t slot =
      allowed ? current.claim(current.header().domain_table, current.header().domains, kMostDomains)
              : kNone;
  if (slot == kNone) {
    errno = has_failed(context) ? EIO : (live.fetch_sub(1), ENOMEM);
    return nullptr;
  }
  Domain& shared = current.domain(slot);
  shared.process = current.process();
  shared.context = owner->slot;
  shared.users.store(0);
  shared.use.store(Use::kLive);
  auto* object = static_cast<DomainObject*>(calloc(1, sizeof(DomainObject)));
  object->domain.context = context;
  object->domain.handle = slot;
  object->slot = slot;
  return &object->domain;
}

SOFTVERBS_API int ibv_dealloc_pd(ibv_pd* domain) {
  DomainObject* object = ours(domain);
  Run& current = run();
  if (current.domain(object->slot).users.load() != 0) {
    return EBUSY;
  }
  current.device(ours(domain->context)->device).counters.live_domains.fetch_sub(1);
  release_slot(current.header().domain_table, current.at(current.header().domains), object->slot);
  free(object);
  return 0;
}

SOFTVERBS_API ibv_mr* ibv_reg_mr(ibv_pd* domain, void* data, size_t bytes, int access) {
  return register_host_memory(domain, data, bytes, reinterpret_cast<uint64_t>(data),
                              static_cast<uint32_t>(access));
}

SOFTVERBS_API ibv_mr* ibv_reg_mr_iova(ibv_pd* domain, void* data, size_t bytes, uint64_t start,
                                      int access) {
  return register_host_memory(domain, data, bytes, start, static_cast<uint32_t>(access));
}

SOFTVERBS_API ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* data, size_t bytes, uint64_t start,
                                       unsigned int access) {
  return register_host_memory(domain, data, bytes, start, access);
}

SOFTVERBS_API ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* domain, uint64_t offset, size_t bytes,
                                        uint64_t start, int descriptor, int access) {
  if (!description_of(*ours(domain->context)).dma_buf) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (const int error = check_access(domain, static_cast<uint32_t>(access))) {
    errno = error;
    return nullptr;
  }
  if (const auto exported = import_dma_buf(descriptor)) {
    if (offset > exported->bytes || bytes > exported->bytes - offset) {
      errno = EINVAL;
      return nullptr;
    }
    return make_region(domain, nullptr, exported->address + offset, bytes, start,
                       static_cast<uint32_t>(access));
  }
  // Any other file whose memory can be mapped: a memfd, a udmabuf.
  const uint64_t inside_page = offset % page_bytes();
  const size_t mapped = bytes + inside_page;
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                       static_cast<off_t>(offset - inside_page));
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  ibv_mr* region = make_region(domain, nullptr, reinterpret_cast<uint64_t>(mapping) + inside_page,
                               bytes, start, static_cast<uint32_t>(access));
  if (region == nullptr) {
    munmap(mapping, mapped);
    return nullptr;
  }
  ours(region)->mapping = mapping;
  ours(region)->mapped_bytes = mapped;
  return region;
}

SOFTVERBS_API int ibv_dereg_mr(ibv_mr* region) {
  RegionObject* object = ours(region);
  deregister_region(run(), region->lkey);
  if (object->mapping != nullptr) {
    munmap(object->mapping, object->mapped_bytes);
  }
  free(object);
  return 0;
}
