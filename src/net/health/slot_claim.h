#pragma once

// A slot of the page as something one owns.

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "net/health/page_core.h"

namespace rocelane::telemetry {

// Which life of which slot; what lanes know their connection by.
struct SlotName {
  uint32_t index = kNone;
  uint64_t life = 0;
};

// Where claims write that are not made yet. Nobody reads it.
template <class Slot>
inline Slot scratch_slot{};

// Move-only. Always has a slot to write to, so that the data path need not ask: the page's, or one
// of its own when the page has none left, or the common scratch slot before anything was claimed.
template <class Slot>
class SlotClaim {
 public:
  SlotClaim() = default;
  SlotClaim(std::shared_ptr<PageCore> core, const Slot& identity)
      : core_(std::move(core)), claimed_(core_->claim(identity)) {
    if (claimed_.slot != nullptr) {
      slot_ = claimed_.slot;
      return;
    }
    // Not the common one: threads that count there would fight for its cache line.
    own_.reset(new (std::nothrow) Slot(identity));
    slot_ = own_ ? own_.get() : &scratch_slot<Slot>;
  }
  SlotClaim(SlotClaim&& other) noexcept { swap(other); }
  // By value: the old claim is released together with `other`.
  SlotClaim& operator=(SlotClaim other) noexcept {
    swap(other);
    return *this;
  }
  ~SlotClaim() {
    if (core_) {
      core_->template release<Slot>(claimed_.index);
    }
  }

  Slot& slot() const { return *slot_; }
  bool is_shown() const { return claimed_.slot != nullptr; }
  SlotName name() const {
    return is_shown() ? SlotName{claimed_.index, life_of(slot_->sequence)} : SlotName{};
  }

 private:
  void swap(SlotClaim& other) noexcept {
    std::swap(slot_, other.slot_);
    std::swap(core_, other.core_);
    std::swap(claimed_, other.claimed_);
    std::swap(own_, other.own_);
  }

  Slot* slot_ = &scratch_slot<Slot>;
  std::shared_ptr<PageCore> core_;
  Claimed<Slot> claimed_;
  std::unique_ptr<Slot> own_;
};

}  // namespace rocelane::telemetry
