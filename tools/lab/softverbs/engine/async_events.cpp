#include "softverbs/engine/async_events.h"

#include <algorithm>

namespace rocelane::softverbs {
namespace {

void write_event(Run& run, uint32_t context, const EventRecord& record) {
  run.pipes().write("events", context, &record, sizeof record);
}

}  // namespace

void raise_queue_pair_event(Run& run, uint32_t slot, ibv_event_type type) {
  const QueuePair& pair = run.queue_pair(slot);
  write_event(run, pair.context, {static_cast<uint32_t>(type), slot, pair.generation.load()});
}

void raise_completion_queue_event(Run& run, uint32_t slot) {
  write_event(run, run.completion_queue(slot).context, {IBV_EVENT_CQ_ERR, slot, 0});
}

void raise_shared_receive_event(Run& run, uint32_t slot) {
  write_event(run, run.shared_receive_queue(slot).context, {IBV_EVENT_SRQ_LIMIT_REACHED, slot, 0});
}

void raise_device_event(Run& run, uint32_t device, ibv_event_type type) {
  const uint32_t high = std::min(run.header().context_table.high.load(), kMostContexts);
  for (uint32_t slot = 0; slot < high; ++slot) {
    const Context& context = run.context(slot);
    if (context.use.load() == Use::kLive && context.device == device) {
      write_event(run, slot, {static_cast<uint32_t>(type), 1, 0});
    }
  }
}

}  // namespace rocelane::softverbs
