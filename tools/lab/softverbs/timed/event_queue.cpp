#include "softverbs/timed/event_queue.h"

#include <algorithm>
#include <tuple>

#include "softverbs/engine/addresses.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr uint64_t kFirstCapacity = 1024;

bool is_later(const Event& a, const Event& b) {
  return std::tie(a.time_ns, a.tie, a.number) > std::tie(b.time_ns, b.tie, b.number);
}

// False when the run's memory is used up.
bool grow(Run& run) {
  Fabric& fabric = run.fabric();
  const uint64_t capacity = std::max(kFirstCapacity, fabric.heap_capacity * 2);
  const auto larger = run.allocate<Event>(capacity * sizeof(Event));
  if (!larger) {
    return false;
  }
  std::copy_n(run.at(fabric.heap), fabric.heap_size, run.at(larger));
  run.release(fabric.heap, fabric.heap_capacity * sizeof(Event));
  fabric.heap = larger;
  fabric.heap_capacity = capacity;
  return true;
}

void announce_next(Run& run) {
  Fabric& fabric = run.fabric();
  fabric.next_event_ns.store(fabric.heap_size == 0 ? UINT64_MAX : run.at(fabric.heap)->time_ns);
}

}  // namespace

void schedule(Run& run, uint64_t time_ns, Event::Kind kind, uint32_t subject, uint64_t owner) {
  Fabric& fabric = run.fabric();
  if (fabric.heap_size == fabric.heap_capacity && !grow(run)) {
    return;  // like a packet that is lost: the sender's timer is what notices
  }
  Event* heap = run.at(fabric.heap);
  heap[fabric.heap_size++] = {time_ns, mixed(run.description().seed, owner, time_ns),
                              fabric.events++, kind, subject};
  std::push_heap(heap, heap + fabric.heap_size, is_later);
  announce_next(run);
}

std::optional<Event> take_due(Run& run, uint64_t time_ns) {
  Fabric& fabric = run.fabric();
  Event* heap = run.at(fabric.heap);
  if (fabric.heap_size == 0 || heap->time_ns > time_ns) {
    return std::nullopt;
  }
  std::pop_heap(heap, heap + fabric.heap_size, is_later);
  const Event first = heap[--fabric.heap_size];
  announce_next(run);
  return first;
}

}  // namespace rocelane::softverbs::timed
