#pragma once

// The memory of a page and who has which slot of it. Shared by the page and by all claims on it,
// because connections that NCCL never closes outlive the page's owner.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "base/result.h"
#include "net/health/page_file.h"
#include "net/health/slot_table.h"
#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

// How many slots a page can have, at most kMostSlots in each table. What is beyond is counted as
// not shown.
struct Capacities {
  uint32_t ports = 64;
  uint32_t connections = 1024;
  uint32_t lanes = 4096;
};

// When something is: the clock of the page, and how far wall time is ahead of it.
struct PageTime {
  uint64_t monotonic_ns = 0;
  int64_t wall_minus_monotonic_ns = 0;
};

template <class Slot>
struct Claimed {
  Slot* slot = nullptr;    // nullptr: not shown
  uint32_t index = kNone;  // in its table
};

class PageCore {
 public:
  // A page in `file`, which is empty and ours; `file` outlives every claim() but not every
  // release().
  static Result<std::shared_ptr<PageCore>> in_file(const PageFile& file, const OwnerFacts& owner,
                                                   const Capacities& capacities, PageTime created,
                                                   ReserveStorage reserve);
  // A page nobody can read, with room for nothing.
  static std::shared_ptr<PageCore> hidden(const OwnerFacts& owner, PageTime created);
  PageCore(const PageCore&) = delete;
  PageCore& operator=(const PageCore&) = delete;
  ~PageCore();

  // From any thread; both take a mutex. A claim without a slot must be released too, with kNone.
  template <class Slot>
  Claimed<Slot> claim(const Slot& identity);
  template <class Slot>
  void release(uint32_t index);

  PageHeader& header() { return *header_; }

 private:
  PageCore() = default;
  void lay_out(std::byte* page, PageHeader* header);
  template <class Slot>
  bool back(SlotTable<Slot>& table, uint32_t index);

  PageHeader hidden_header_{};
  PageHeader* header_ = &hidden_header_;
  uint32_t owner_pid_ = 0;
  std::byte* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  int descriptor_ = -1;
  ReserveStorage reserve_;
  bool said_full_ = false;
  std::mutex
      mutex_;  // between set-up threads that claim and release, for tables_ and the above two
  std::tuple<SlotTable<PortSlot>, SlotTable<ConnectionSlot>, SlotTable<LaneSlot>> tables_;
};

}  // namespace rocelane::telemetry
