#pragma once

// Ranges, and which of them contains a wanted one: in logarithmic time, also when they overlap.
//
// Only the widest ranges are looked at, those that no other one contains: the later such a range
// begins, the later it ends, so that just one can be the answer. The covered ones stand by until
// the range over them is taken out. Not thread-safe. What does not add, allocates and throws
// nothing.

#include <iterator>
#include <map>
#include <utility>

#include "net/memory/registration_request.h"

namespace rocelane::net {

template <class Value>
class ContainmentIndex {
 public:
  bool is_empty() const { return widest_.empty(); }

  // The value of a range that contains `wanted`, or nullptr. Valid until it is taken.
  const Value* find(const MemoryRange& wanted) const {
    // An empty range sorts after every other one with its begin.
    const auto after = widest_.upper_bound(MemoryRange{wanted.begin, wanted.begin});
    if (after == widest_.begin()) {
      return nullptr;
    }
    const auto& [range, value] = *std::prev(after);
    return range.contains(wanted) ? &value : nullptr;
  }

  // Only for a range that find() knows no container of.
  void add(const MemoryRange& range, Value value) {
    auto next = std::next(widest_.emplace(range, std::move(value)).first);
    while (next != widest_.end() && range.contains(next->first)) {
      covered_.insert(widest_.extract(next++));
    }
  }

  // Only for a range that was added and not yet taken.
  Value take(const MemoryRange& range) {
    if (auto covered = covered_.extract(range)) {
      return std::move(covered.mapped());
    }
    auto taken = widest_.extract(range);
    uncover(range);
    return std::move(taken.mapped());
  }

 private:
  using Ranges = std::map<MemoryRange, Value>;

  // In order, so that a range comes after all those that could contain it.
  void uncover(const MemoryRange& gone) {
    auto next = covered_.lower_bound(gone);
    while (next != covered_.end() && next->first.begin <= gone.end) {
      const auto candidate = next++;
      if (find(candidate->first) == nullptr) {
        widest_.insert(covered_.extract(candidate));
      }
    }
  }

  Ranges widest_;
  Ranges covered_;
};

}  // namespace rocelane::net
