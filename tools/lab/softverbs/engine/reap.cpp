#include <algorithm>

#include "softverbs/engine/completions.h"
#include "softverbs/engine/delivery.h"
#include "softverbs/engine/memory.h"
#include "softverbs/engine/queue_pairs.h"
#include "softverbs/engine/receive_queues.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/segment/run.h"

namespace rocelane::softverbs {
namespace {

// Calls `give_up` for every live slot of the process.
template <class T, class GiveUp>
void for_each_of(uint32_t process, SlotTable& table, T* slots, uint32_t most, GiveUp give_up) {
  const uint32_t high = std::min(table.high.load(), most);
  for (uint32_t slot = 0; slot < high; ++slot) {
    if (slots[slot].use.load() == Use::kLive && slots[slot].process == process) {
      give_up(slot);
    }
  }
}

void release_context(Run& run, uint32_t slot) {
  run.pipes().remove("events", slot);
  release_slot(run.header().context_table, run.at(run.header().contexts), slot);
}

void release_domain(Run& run, uint32_t slot) {
  run.device(run.context(run.domain(slot).context).device).counters.live_domains.fetch_sub(1);
  release_slot(run.header().domain_table, run.at(run.header().domains), slot);
}

void let_go(Process& process) {
  const uint32_t high = process.holds_high.load();
  for (uint32_t place = 0; place < high; ++place) {
    process.holds[place].store(0);
  }
  process.holds_high.store(0);
}

// Direct runs: the process may have been killed while it placed data, or before it could flush a
// queue pair that it had brought into error. In timed runs the fabric recovers from that.
void settle_others(Run& run, uint32_t process) {
  const uint32_t high = std::min(run.header().queue_pair_table.high.load(), kMostQueuePairs);
  for (uint32_t slot = 0; slot < high; ++slot) {
    QueuePair& pair = run.queue_pair(slot);
    if (pair.use.load() != Use::kLive || pair.process == process) {
      continue;
    }
    {
      const std::lock_guard lock(pair.responder_mutex);
      settle_responder(run, slot);
    }
    flush(run, slot);
  }
}

}  // namespace

void reap(Run& run, uint32_t process) {
  Header& header = run.header();
  let_go(run.process_slot(process));
  if (process != run.process() && !run.timed()) {
    settle_others(run, process);
  }
  for_each_of(process, header.queue_pair_table, run.at(header.queue_pairs), kMostQueuePairs,
              [&run](uint32_t slot) { destroy_queue_pair(run, slot); });
  for_each_of(process, header.completion_queue_table, run.at(header.completion_queues),
              kMostCompletionQueues,
              [&run](uint32_t slot) { destroy_completion_queue(run, slot); });
  for_each_of(process, header.shared_receive_queue_table, run.at(header.shared_receive_queues),
              kMostReceiveQueues,
              [&run](uint32_t slot) { destroy_shared_receive_queue(run, slot); });
  for_each_of(process, header.region_table, run.at(header.regions), kMostRegions,
              [&run](uint32_t slot) { deregister_region_slot(run, slot); });
  for_each_of(process, header.domain_table, run.at(header.domains), kMostDomains,
              [&run](uint32_t slot) { release_domain(run, slot); });
  for_each_of(process, header.context_table, run.at(header.contexts), kMostContexts,
              [&run](uint32_t slot) { release_context(run, slot); });
  release_slot(header.process_table, run.at(header.processes), process);
}

}  // namespace rocelane::softverbs
