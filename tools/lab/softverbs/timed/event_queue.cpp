#include "softverbs/timed/event_queue.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "softverbs/engine/addresses.h"

namespace rocelane::softverbs::timed {
namespace {

bool is_later(const Event& a, const Event& b) {
  return std::tie(a.time_ns, a.tie, a.number) > std::tie(b.time_ns, b.tie, b.number);
}

bool is_plan(const Event& event) {
  return event.kind == Event::Kind::kFault || event.kind == Event::Kind::kFaultOver ||
         event.kind == Event::Kind::kRerouted;
}

// False when the run's memory is used up.
bool grow(Run& run, uint64_t capacity) {
  Fabric& fabric = run.fabric();
  const auto larger = run.allocate<Event>(capacity * sizeof(Event));
  if (!larger) {
    return false;
  }
  const auto before = fabric.heap;
  const uint64_t bytes_before = fabric.heap_capacity * sizeof(Event);
  std::copy_n(run.at(before), fabric.heap_size, run.at(larger));
  in_this_order();
  fabric.heap = larger;
  in_this_order();
  fabric.heap_capacity = capacity;
  in_this_order();
  run.release(before, bytes_before);
  return true;
}

void announce_next(Run& run) {
  Fabric& fabric = run.fabric();
  fabric.next_event_ns.store(fabric.heap_size == 0 ? UINT64_MAX : run.at(fabric.heap)->time_ns);
}

}  // namespace

void schedule(Run& run, uint64_t time_ns, Event::Kind kind, uint32_t subject, uint64_t owner) {
  Fabric& fabric = run.fabric();
  if (fabric.heap_size == fabric.heap_capacity && !grow(run, fabric.heap_capacity * 2)) {
    return;  // see reserve_events(): only timers of queue pairs can come here
  }
  Event* heap = run.at(fabric.heap);
  fabric.moving = {time_ns, mixed(run.description().seed, owner, time_ns), fabric.events++, kind,
                   subject};
  in_this_order();
  heap[fabric.heap_size++] = fabric.moving;
  std::push_heap(heap, heap + fabric.heap_size, is_later);
  in_this_order();
  fabric.moving.kind = Event::Kind::kNothing;
  announce_next(run);
}

std::optional<Event> take_due(Run& run, uint64_t time_ns) {
  Fabric& fabric = run.fabric();
  Event* heap = run.at(fabric.heap);
  if (fabric.heap_size == 0 || heap->time_ns > time_ns) {
    return std::nullopt;
  }
  fabric.handled = *heap;
  fabric.moving = heap[fabric.heap_size - 1];
  in_this_order();
  std::pop_heap(heap, heap + fabric.heap_size, is_later);
  --fabric.heap_size;
  in_this_order();
  fabric.moving.kind = Event::Kind::kNothing;
  announce_next(run);
  return fabric.handled;
}

void is_carried_out(Run& run) { run.fabric().handled.kind = Event::Kind::kNothing; }

bool reserve_events(Run& run, uint64_t bursts) {
  const Fabric& fabric = run.fabric();
  constexpr uint64_t kTimers = 64;
  const uint64_t wanted = fabric.heap_size + bursts + 2 * fabric.link_count + kTimers;
  return wanted <= fabric.heap_capacity || grow(run, std::bit_ceil(wanted));
}

void keep_plans_only(Run& run) {
  Fabric& fabric = run.fabric();
  const Event* heap = run.at(fabric.heap);
  std::vector<Event> plans(heap, heap + fabric.heap_size);
  plans.push_back(fabric.moving);
  plans.push_back(fabric.handled);
  std::erase_if(plans, [](const Event& event) { return !is_plan(event); });
  std::sort(plans.begin(), plans.end(),
            [](const Event& a, const Event& b) { return a.number < b.number; });
  const auto same = std::unique(plans.begin(), plans.end(), [](const Event& a, const Event& b) {
    return a.number == b.number;
  });
  plans.erase(same, plans.end());
  std::make_heap(plans.begin(), plans.end(), is_later);
  std::copy(plans.begin(), plans.end(), run.at(fabric.heap));
  fabric.heap_size = plans.size();
  fabric.moving.kind = Event::Kind::kNothing;
  fabric.handled.kind = Event::Kind::kNothing;
  announce_next(run);
}

}  // namespace rocelane::softverbs::timed
