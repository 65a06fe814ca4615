#include "net/health/page_core.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

namespace rocelane::telemetry {
namespace {

// Storage comes in steps: a page that could hold 4096 lanes must not take 16 MB of a container's
// /dev/shm, which NCCL needs too.
constexpr uint32_t kSlotsPerStep = 32;
constexpr uint64_t kFilePage = 4096;

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

template <class Slot>
uint64_t append_table(TableDescription& table, uint64_t offset, uint32_t capacity) {
  table.offset = offset;
  table.slot_bytes = sizeof(Slot);
  table.capacity = std::min(capacity, kMostSlots);
  return round_up(offset + uint64_t{table.capacity} * sizeof(Slot), kFilePage);
}

// Everything but the magic, which is written when all else is in place.
PageHeader describe(const OwnerFacts& owner, const Capacities& capacities, PageTime created) {
  PageHeader header{};
  header.version = kVersion;
  header.oldest_reader = kOldestReader;
  header.header_bytes = sizeof(PageHeader);
  header.table_count = 3;
  header.owner = owner;
  header.rank = kRankUnknown;
  header.created_monotonic_ns = created.monotonic_ns;
  header.updated_monotonic_ns = created.monotonic_ns;
  header.wall_minus_monotonic_ns = created.wall_minus_monotonic_ns;
  header.latency_first_power = kLatencyFirstPower;
  header.latency_powers = kLatencyPowers;
  header.latency_steps = kLatencySteps;
  uint64_t end = sizeof(PageHeader);
  end = append_table<PortSlot>(header.ports, end, capacities.ports);
  end = append_table<ConnectionSlot>(header.connections, end, capacities.connections);
  header.page_bytes = append_table<LaneSlot>(header.lanes, end, capacities.lanes);
  return header;
}

Error no_page(const std::string& path, std::string_view why) {
  return {ErrorCode::kSystem,
          fmt::format("No telemetry page at {}: {}. Everything else works; point "
                      "ROCELANE_TELEMETRY_DIR to a directory with room, or set "
                      "ROCELANE_TELEMETRY=off.",
                      path, why)};
}

}  // namespace

Result<std::shared_ptr<PageCore>> PageCore::in_file(const PageFile& file, const OwnerFacts& owner,
                                                    const Capacities& capacities, PageTime created,
                                                    ReserveStorage reserve) {
  const PageHeader header = describe(owner, capacities, created);
  if (header.page_bytes > file_size_limit()) {
    return no_page(file.path(), fmt::format("the limit on file sizes is {} bytes, it needs {}",
                                            file_size_limit(), header.page_bytes));
  }
  if (ftruncate(file.descriptor(), static_cast<off_t>(header.page_bytes)) != 0) {
    return no_page(file.path(), std::strerror(errno));
  }
  if (const int error = reserve(file.descriptor(), 0, sizeof(PageHeader)); error != 0) {
    return no_page(file.path(), std::strerror(error));
  }
  void* memory =
      mmap(nullptr, header.page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) {
    return no_page(file.path(), std::strerror(errno));
  }
  std::shared_ptr<PageCore> core(new PageCore);
  core->mapping_ = static_cast<std::byte*>(memory);
  core->mapping_bytes_ = header.page_bytes;
  core->descriptor_ = file.descriptor();
  core->reserve_ = std::move(reserve);
  auto* shown = static_cast<PageHeader*>(memory);
  *shown = header;
  core->lay_out(core->mapping_, shown);
  publish_words(shown->magic, kMagic, sizeof(kMagic));
  return core;
}

std::shared_ptr<PageCore> PageCore::hidden(const OwnerFacts& owner, PageTime created) {
  std::shared_ptr<PageCore> core(new PageCore);
  core->hidden_header_ = describe(owner, {.ports = 0, .connections = 0, .lanes = 0}, created);
  core->lay_out(nullptr, &core->hidden_header_);
  return core;
}

PageCore::~PageCore() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  }
}

void PageCore::lay_out(std::byte* page, PageHeader* header) {
  header_ = header;
  owner_pid_ = header->owner.pid;
  tables_ = {SlotTable<PortSlot>(&header->ports, page),
             SlotTable<ConnectionSlot>(&header->connections, page),
             SlotTable<LaneSlot>(&header->lanes, page)};
}

template <class Slot>
bool PageCore::back(SlotTable<Slot>& table, uint32_t index) {
  if (index < table.backed()) {
    return true;
  }
  const uint32_t first = table.backed();
  const uint32_t end = std::min(table.capacity(), first + kSlotsPerStep);
  const uint64_t offset = table.offset_of(first);
  const uint64_t bytes = table.offset_of(end) - offset;
  const int error = reserve_(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0) {
    if (!said_full_) {
      log_warn(
          "The telemetry page cannot grow: {}. Further connections work and are not shown; give "
          "the directory of ROCELANE_TELEMETRY_DIR more room.",
          std::strerror(error));
      said_full_ = true;
    }
    return false;
  }
  table.set_backed(end);
  return true;
}

template <class Slot>
Claimed<Slot> PageCore::claim(const Slot& identity) {
  const std::lock_guard lock(mutex_);
  auto& table = std::get<SlotTable<Slot>>(tables_);
  const uint32_t index = table.first_free();
  if (index == kNone || !back(table, index)) {
    table.set_not_shown(table.not_shown() + 1);
    return {};
  }
  return {.slot = table.fill(index, identity), .index = index};
}

template <class Slot>
void PageCore::release(uint32_t index) {
  // A forked child that ends must not take its parent's slots away; nor wait for a mutex that was
  // held when it was made.
  if (static_cast<uint32_t>(getpid()) != owner_pid_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  auto& table = std::get<SlotTable<Slot>>(tables_);
  if (index == kNone) {
    table.set_not_shown(table.not_shown() - 1);
  } else {
    table.release(index);
  }
}

template Claimed<PortSlot> PageCore::claim(const PortSlot&);
template Claimed<ConnectionSlot> PageCore::claim(const ConnectionSlot&);
template Claimed<LaneSlot> PageCore::claim(const LaneSlot&);
template void PageCore::release<PortSlot>(uint32_t);
template void PageCore::release<ConnectionSlot>(uint32_t);
template void PageCore::release<LaneSlot>(uint32_t);

}  // namespace rocelane::telemetry
