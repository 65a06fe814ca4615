#pragma once

// One completion queue a device for all connections that one thread drives, so that a round over
// hundreds of idle ones costs one poll. Who takes a completion is written in its work request's
// wr_id.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <infiniband/verbs.h>

#include "base/result.h"
#include "base/tick_clock.h"
#include "verbs/objects.h"

namespace rocelane::verbs {

class CompletionSink {
 public:
  // Called while the hub is polled and locked. `id`: as given to CompletionPlace::work_id.
  // `now`: of the tick clock, when the batch was polled.
  virtual void take(uint32_t id, const ibv_wc& completion, uint64_t now) = 0;

 protected:
  ~CompletionSink() = default;
};

class CompletionPlace;

// Completions of queue pairs of one device that may be there at one time.
struct CompletionRoom {
  ibv_context* context = nullptr;
  uint32_t entries = 0;
};

// Lockable: whoever posts work, or changes what a sink changes, holds it. It is meant to be used by
// one thread, with which another one rarely meets; so waiting is spinning. Outlives its places.
class CompletionHub : public std::enable_shared_from_this<CompletionHub> {
 public:
  static std::shared_ptr<CompletionHub> create();

  // One place with all of these rooms; of each device there may be several. ENOMEM of a device is
  // an error.
  Result<CompletionPlace> enter(std::span<const CompletionRoom> rooms);

  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      wait();
    }
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

  // Hands out what has completed. 0, or what ibv_poll_cq failed with. The caller holds the lock.
  int poll();

  // Whether nobody has polled since the caller was last told no. `seen` belongs to the caller: of
  // all that ask in turn, one a round is told yes, and who asks twice is.
  bool is_poll_due(uint32_t& seen) const {
    if (has_been_polled(seen)) {
      return false;
    }
    ++seen;  // who is told yes polls
    return true;
  }
  // False changes nothing, so that is_poll_due may be asked afterwards.
  bool has_been_polled(uint32_t& seen) const {
    const uint32_t polls = polls_.load(std::memory_order_relaxed);
    if (seen == polls) {
      return false;
    }
    seen = polls;
    return true;
  }

 private:
  friend class CompletionPlace;

  struct Queue {
    ibv_context* context = nullptr;
    CompletionQueue queue;
    uint32_t capacity = 0;
    uint32_t used = 0;
  };
  struct Seat {
    CompletionSink* sink = nullptr;
    uint16_t generation = 0;  // a late completion of an earlier owner is dropped
    bool taken = false;
  };

  CompletionHub() = default;
  static void wait();
  Result<size_t> find_queue(const CompletionRoom& room);
  void give_back(const CompletionPlace& place);
  void hand_out(const ibv_wc& completion, uint64_t now);
  void leave(const CompletionPlace& place);

  const TickClock& clock_ = TickClock::instance();
  std::atomic<bool> locked_{false};
  std::atomic<uint32_t> polls_{0};
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<Seat> seats_;
};

// A sink's place in a hub. Its queue pairs are destroyed before it.
class CompletionPlace {
 public:
  CompletionPlace() = default;
  CompletionPlace(CompletionPlace&& other) noexcept;
  CompletionPlace& operator=(CompletionPlace&& other) noexcept;
  ~CompletionPlace();

  // Of room number `room`, as they were given.
  ibv_cq* queue(size_t room = 0) const { return shares_[room].queue; }
  CompletionHub& hub() const { return *hub_; }
  uint64_t work_id(uint32_t id) const { return tag_ | id; }

  // Who takes completions from now on; nullptr: they are dropped. When it returns nobody is in the
  // old one any more.
  void set_sink(CompletionSink* sink);

 private:
  friend class CompletionHub;

  struct Share {
    ibv_cq* queue = nullptr;
    size_t queue_index = 0;
    uint32_t entries = 0;
  };

  std::shared_ptr<CompletionHub> hub_;
  std::vector<Share> shares_;  // by room
  uint32_t seat_ = 0;
  uint64_t tag_ = 0;
};

}  // namespace rocelane::verbs
