#include "device/transfer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "device/chunk_plan.h"

namespace rocelane::lab {
namespace {

// A list without memory of its own: slices are many and small.
template <class T>
class ShortList {
 public:
  void add(T item) { items_[size_++] = item; }
  std::span<const T> all() const { return {items_.data(), size_}; }
  bool has_null() const { return std::ranges::find(all(), nullptr) != all().end(); }

 private:
  std::array<T, Transfer::kMaxPeers + 1> items_ = {};
  size_t size_ = 0;
};

}  // namespace

Transfer::Transfer(std::vector<Move> moves, const UserBuffers& buffers,
                   const Arithmetic& arithmetic, const Slicing& slicing,
                   std::vector<std::unique_ptr<Inlet>> inlets,
                   std::vector<std::unique_ptr<Outlet>> outlets)
    : moves_(std::move(moves)),
      buffers_(buffers),
      arithmetic_(arithmetic),
      slicing_(slicing),
      inlets_(std::move(inlets)),
      outlets_(std::move(outlets)) {}

Progress Transfer::advance() {
  if (current_ == moves_.size()) {
    return is_drained() ? Progress::kFinished : Progress::kWaiting;
  }
  const Move& move = moves_[current_];
  const size_t elements =
      std::min(slice_elements(move.count, slicing_.slices, slicing_.smallest), move.count - done_);
  if (!is_ready(move, elements * arithmetic_.element_bytes)) {
    return Progress::kWaiting;
  }
  move_slice(move, elements);
  done_ += elements;
  if (++slice_ == slicing_.slices) {
    ++current_;
    slice_ = 0;
    done_ = 0;
  }
  return Progress::kMoved;
}

bool Transfer::is_ready(const Move& move, size_t bytes) {
  const auto arrived = [&](const auto& inlet) { return inlet->has_arrived(bytes); };
  const auto roomy = [&](const auto& outlet) { return outlet->has_room(bytes); };
  return (!move.receive || std::ranges::all_of(inlets_, arrived)) &&
         (!move.send || std::ranges::all_of(outlets_, roomy));
}

void Transfer::move_slice(const Move& move, size_t elements) {
  if (elements != 0) {
    ShortList<const std::byte*> sources;
    ShortList<std::byte*> destinations;
    if (move.own != Memory::kNone) {
      sources.add(buffers_.input + (move.own_offset + done_) * arithmetic_.element_bytes);
    }
    if (move.kept != Memory::kNone) {
      destinations.add(buffers_.output + (move.kept_offset + done_) * arithmetic_.element_bytes);
    }
    if (move.receive) {
      for (const auto& inlet : inlets_) {
        sources.add(inlet->data());
      }
    }
    if (move.send) {
      for (const auto& outlet : outlets_) {
        destinations.add(outlet->space());
      }
    }
    if (!sources.has_null() && !destinations.has_null()) {
      reduce_copy(arithmetic_, sources.all(), destinations.all(), elements,
                  move.own != Memory::kNone, move.finished);
    }
  }
  if (move.receive) {
    for (const auto& inlet : inlets_) {
      inlet->release();
    }
  }
  if (move.send) {
    for (const auto& outlet : outlets_) {
      outlet->publish();
    }
  }
}

bool Transfer::is_drained() {
  return std::ranges::all_of(outlets_, [](const auto& outlet) { return outlet->is_drained(); });
}

}  // namespace rocelane::lab
