#include "verbs/completion_hub.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <sched.h>

#include "verbs/errors.h"

namespace rocelane::verbs {
namespace {

constexpr int kBatch = 16;
constexpr int kBatchesAtMost = 4;  // others wait for their turn
// Enough for a few connections: every further queue is another poll in every round.
constexpr uint32_t kFirstEntries = 4096;
constexpr size_t kSeatsAtMost = 1U << 16;

// wr_id: what its owner gave, above it the generation, above that the seat.
constexpr int kGenerationShift = 32;
constexpr int kSeatShift = 48;

}  // namespace

std::shared_ptr<CompletionHub> CompletionHub::create() {
  return std::shared_ptr<CompletionHub>(new CompletionHub);
}

void CompletionHub::wait() { ::sched_yield(); }

Result<size_t> CompletionHub::find_queue(const CompletionRoom& room) {
  const uint32_t entries = room.entries;
  uint32_t newest_capacity = 0;  // of this device
  for (size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i]->context != room.context) {
      continue;
    }
    if (queues_[i]->capacity - queues_[i]->used >= entries) {
      return i;
    }
    newest_capacity = queues_[i]->capacity;
  }
  // Each queue is twice as large as the one before: few of them, and little memory for few
  // connections.
  const uint32_t wished =
      std::max(entries, newest_capacity == 0 ? kFirstEntries : 2 * newest_capacity);
  auto created = create_completion_queue(room.context, static_cast<int>(wished));
  if (!created && wished > entries) {
    created = create_completion_queue(room.context, static_cast<int>(entries));
  }
  if (!created) {
    return std::move(created).error();
  }
  auto queue = std::make_unique<Queue>();
  queue->context = room.context;
  queue->capacity = static_cast<uint32_t>(created->get()->cqe);
  queue->queue = std::move(*created);
  queues_.push_back(std::move(queue));
  return queues_.size() - 1;
}

Result<CompletionPlace> CompletionHub::enter(std::span<const CompletionRoom> rooms) {
  const std::lock_guard held(*this);
  CompletionPlace place;
  for (const CompletionRoom& room : rooms) {
    const Result<size_t> index = find_queue(room);
    if (!index) {
      give_back(place);
      return index.error();
    }
    Queue& queue = *queues_[*index];
    queue.used += room.entries;
    place.shares_.push_back({queue.queue.get(), *index, room.entries});
  }
  auto seat =
      std::find_if(seats_.begin(), seats_.end(), [](const Seat& each) { return !each.taken; });
  if (seat == seats_.end()) {
    if (seats_.size() == kSeatsAtMost) {
      give_back(place);
      return Error{ErrorCode::kSystem, "one thread has more than 65536 connections"};
    }
    seat = seats_.insert(seats_.end(), Seat{});
  }
  seat->taken = true;
  ++seat->generation;
  place.hub_ = shared_from_this();
  place.seat_ = static_cast<uint32_t>(seat - seats_.begin());
  place.tag_ = static_cast<uint64_t>(place.seat_) << kSeatShift |
               static_cast<uint64_t>(seat->generation) << kGenerationShift;
  return place;
}

int CompletionHub::poll() {
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::array<ibv_wc, kBatch> completions;
  for (const auto& queue : queues_) {
    int count = kBatch;
    for (int batch = 0; batch < kBatchesAtMost && count == kBatch; ++batch) {
      count = ibv_poll_cq(queue->queue.get(), kBatch, completions.data());
      if (count < 0) {
        return -count;
      }
      const uint64_t now = count > 0 ? clock_.now() : 0;
      for (int i = 0; i < count; ++i) {
        hand_out(completions[static_cast<size_t>(i)], now);
      }
    }
  }
  return 0;
}

void CompletionHub::hand_out(const ibv_wc& completion, uint64_t now) {
  const size_t number = completion.wr_id >> kSeatShift;
  if (number >= seats_.size()) {
    return;
  }
  const Seat& seat = seats_[number];
  if (seat.sink != nullptr &&
      seat.generation == static_cast<uint16_t>(completion.wr_id >> kGenerationShift)) {
    seat.sink->take(static_cast<uint32_t>(completion.wr_id), completion, now);
  }
}

void CompletionHub::leave(const CompletionPlace& place) {
  const std::lock_guard held(*this);
  Seat& seat = seats_[place.seat_];
  seat.sink = nullptr;
  seat.taken = false;
  give_back(place);
}

void CompletionHub::give_back(const CompletionPlace& place) {
  for (const CompletionPlace::Share& share : place.shares_) {
    queues_[share.queue_index]->used -= share.entries;
  }
}

CompletionPlace::CompletionPlace(CompletionPlace&& other) noexcept { *this = std::move(other); }

CompletionPlace& CompletionPlace::operator=(CompletionPlace&& other) noexcept {
  std::swap(hub_, other.hub_);
  std::swap(shares_, other.shares_);
  std::swap(seat_, other.seat_);
  std::swap(tag_, other.tag_);
  return *this;
}

CompletionPlace::~CompletionPlace() {
  if (hub_ != nullptr) {
    hub_->leave(*this);
  }
}

void CompletionPlace::set_sink(CompletionSink* sink) {
  const std::lock_guard held(*hub_);
  hub_->seats_[seat_].sink = sink;
}

}  // namespace rocelane::verbs
