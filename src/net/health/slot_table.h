#pragma once

// Who has which slot of one table of the page. Knows no lock: its owner brings one. Decides by its
// own notes and only publishes them: nothing that another program writes into the page matters
// here.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/health/counting.h"
#include "rocelane/telemetry_page.h"

namespace rocelane::telemetry {

template <class Slot>
class SlotTable {
 public:
  SlotTable() = default;
  // `description` lies in the page that begins at `page`; both outlive the table. A table without
  // slots needs no page.
  SlotTable(TableDescription* description, std::byte* page)
      : description_(description),
        page_(page),
        offset_(description->offset),
        used_(description->capacity) {}

  // The first free slot, kNone when all are taken. It may have no storage yet.
  uint32_t first_free() const {
    for (uint32_t index = 0; index < used_.size(); ++index) {
      if (!used_[index]) {
        return index;
      }
    }
    return kNone;
  }

  uint32_t capacity() const { return static_cast<uint32_t>(used_.size()); }
  uint32_t backed() const { return backed_; }
  // Of a slot, from the beginning of the page.
  uint64_t offset_of(uint32_t index) const { return offset_ + uint64_t{index} * sizeof(Slot); }
  void set_backed(uint32_t slots) {
    backed_ = slots;
    publish(description_->slots_backed, slots);
  }
  void set_not_shown(uint32_t claims) {
    not_shown_ = claims;
    publish(description_->not_shown, claims);
  }
  uint32_t not_shown() const { return not_shown_; }

  // Begins a life of slot `index`, which is backed and free, with what `identity` says.
  Slot* fill(uint32_t index, const Slot& identity) {
    used_[index] = true;
    Slot* slot = at(index);
    const uint64_t free = slot->sequence;
    publish(slot->sequence, free + 1);
    // Who reads anything of the new life also reads a sequence of the new life afterwards.
    constexpr size_t kSequence = sizeof(slot->sequence);
    publish_words(reinterpret_cast<std::byte*>(slot) + kSequence,
                  reinterpret_cast<const std::byte*>(&identity) + kSequence,
                  sizeof(Slot) - kSequence);
    std::atomic_ref<uint64_t>(slot->sequence).store(free + 2, std::memory_order_release);
    return slot;
  }

  void release(uint32_t index) {
    used_[index] = false;
    Slot* slot = at(index);
    // Two steps on, to the next life: nothing in the slot has to change for it to be free.
    std::atomic_ref<uint64_t>(slot->sequence).store(slot->sequence + 2, std::memory_order_release);
  }

 private:
  Slot* at(uint32_t index) const { return reinterpret_cast<Slot*>(page_ + offset_of(index)); }

  TableDescription* description_ = nullptr;
  std::byte* page_ = nullptr;
  uint64_t offset_ = 0;
  uint32_t backed_ = 0;
  uint32_t not_shown_ = 0;
  std::vector<bool> used_;
};

}  // namespace rocelane::telemetry
