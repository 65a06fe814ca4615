#include "softverbs/segment/prepare_fabric.h"

#include "softverbs/segment/run.h"

namespace rocelane::softverbs {

void prepare_fabric(Run& run) {
  Fabric& fabric = run.fabric();
  fabric.mutex.initialise();
  fabric.next_event_ns.store(UINT64_MAX);
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
}

}  // namespace rocelane::softverbs
