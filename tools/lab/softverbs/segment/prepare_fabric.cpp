#include "softverbs/segment/prepare_fabric.h"

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

bool prepare_fabric(Run& run) {
  Fabric& fabric = run.fabric();
  fabric.mutex.initialise();
  fabric.next_event_ns.store(UINT64_MAX);
  fabric.next_tick_ns.store(0);
  fabric.moving.kind = Event::Kind::kNothing;
  fabric.handled.kind = Event::Kind::kNothing;
  fabric.free_burst = kNone;
  for (uint32_t number = 0; number < fabric.link_count; ++number) {
    const LinkProperties& properties = run.topology().links()[number].properties;
    LinkState& link = run.link(number);
    link.rate_bits_per_s = properties.rate_bits_per_s;
    link.delay_ns = properties.delay_ns;
    link.loss = properties.loss;
    link.first.fill(kNone);
    link.last.fill(kNone);
    link.first_waiting.fill(kNone);
    link.last_waiting.fill(kNone);
  }
  // The script's plans must find room.
  constexpr uint64_t kFirstEvents = 1024;
  fabric.heap_capacity = kFirstEvents + 4 * run.faults().faults.size();
  fabric.heap = run.allocate<Event>(fabric.heap_capacity * sizeof(Event));
  return static_cast<bool>(fabric.heap);
}

}  // namespace rocelane::softverbs
