#include "softverbs/engine/receive_queues.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "softverbs/engine/memory.h"

namespace rocelane::softverbs {
namespace {

uint64_t entry_bytes(const ReceiveQueue& queue) {
  return sizeof(ReceiveEntry) + queue.max_sge * sizeof(ibv_sge);
}

ReceiveEntry* entry_at(Run& run, ReceiveQueue& queue, uint64_t index) {
  auto* ring = reinterpret_cast<std::byte*>(run.at(queue.ring));
  return reinterpret_cast<ReceiveEntry*>(ring + (index % queue.capacity) * entry_bytes(queue));
}

ibv_sge* sges_of(ReceiveEntry* entry) { return reinterpret_cast<ibv_sge*>(entry + 1); }

}  // namespace

bool make_receive_queue(Run& run, ReceiveQueue& queue, uint32_t capacity, uint32_t max_sge) {
  queue.capacity = capacity;
  queue.max_sge = max_sge;
  queue.posted.store(0);
  queue.taken.store(0);
  queue.retired.store(0);
  queue.ring = {};
  queue.mutex.initialise();
  if (capacity > 0) {
    queue.ring = run.allocate<ReceiveEntry>(capacity * entry_bytes(queue));
    return static_cast<bool>(queue.ring);
  }
  return true;
}

void unmake_receive_queue(Run& run, ReceiveQueue& queue) {
  run.release(queue.ring, queue.capacity * entry_bytes(queue));
  queue.ring = {};
}

int append_receive(Run& run, ReceiveQueue& queue, const ibv_recv_wr& request) {
  if (request.num_sge < 0 || static_cast<uint32_t>(request.num_sge) > queue.max_sge) {
    return EINVAL;
  }
  const std::lock_guard lock(queue.mutex);
  const uint64_t posted = queue.posted.load(std::memory_order_relaxed);
  if (posted - queue.retired.load() >= queue.capacity) {
    return ENOMEM;
  }
  ReceiveEntry* entry = entry_at(run, queue, posted);
  entry->wr_id = request.wr_id;
  entry->sge_count = static_cast<uint32_t>(request.num_sge);
  std::copy_n(request.sg_list, request.num_sge, sges_of(entry));
  queue.posted.store(posted + 1);
  return 0;
}

ReceiveQueue& receives_of(Run& run, QueuePair& pair) {
  return pair.shared_receive_queue == kNone
             ? pair.receives
             : run.shared_receive_queue(pair.shared_receive_queue).queue;
}

bool take_receive(Run& run, ReceiveQueue& queue, Responder& responder) {
  const std::lock_guard lock(queue.mutex);
  const uint64_t taken = queue.taken.load(std::memory_order_relaxed);
  if (taken == queue.posted.load(std::memory_order_relaxed)) {
    return false;
  }
  ReceiveEntry* oldest = entry_at(run, queue, taken);
  responder.receive = *oldest;
  std::copy_n(sges_of(oldest), oldest->sge_count, responder.sges.begin());
  responder.receive_index = taken;
  in_this_order();
  responder.receive_taken = true;
  queue.taken.store(taken + 1);
  return true;
}

void settle_receive(ReceiveQueue& queue, const Responder& responder) {
  const std::lock_guard lock(queue.mutex);
  if (responder.receive_taken && queue.taken.load() == responder.receive_index) {
    queue.taken.store(responder.receive_index + 1);
  }
}

uint32_t create_shared_receive_queue(Run& run, uint32_t context, uint32_t domain, uint32_t capacity,
                                     uint32_t max_sge, uint64_t cookie) {
  const uint32_t device_number = run.context(context).device;
  DeviceCounters& counters = run.device(device_number).counters;
  const uint32_t most = run.description().devices[device_number].limits.shared_receive_queues;
  const bool allowed = counters.live_shared_receive_queues.fetch_add(1) < most;
  const uint32_t slot = allowed ? run.claim(run.header().shared_receive_queue_table,
                                            run.header().shared_receive_queues, kMostReceiveQueues)
                                : kNone;
  if (slot == kNone ||
      !make_receive_queue(run, run.shared_receive_queue(slot).queue, capacity, max_sge)) {
    if (slot != kNone) {
      release_slot(run.header().shared_receive_queue_table,
                   run.at(run.header().shared_receive_queues), slot);
    }
    counters.live_shared_receive_queues.fetch_sub(1);
    errno = ENOMEM;
    return kNone;
  }
  SharedReceiveQueue& queue = run.shared_receive_queue(slot);
  queue.process = run.process();
  queue.context = context;
  queue.domain = domain;
  queue.cookie = cookie;
  queue.limit.store(0);
  queue.users.store(0);
  queue.awaited.store(false);
  run.domain(domain).users.fetch_add(1);
  queue.use.store(Use::kLive);
  return slot;
}

void destroy_shared_receive_queue(Run& run, uint32_t slot) {
  SharedReceiveQueue& queue = run.shared_receive_queue(slot);
  queue.use.store(Use::kClaimed);
  unmake_receive_queue(run, queue.queue);
  run.domain(queue.domain).users.fetch_sub(1);
  run.device(run.context(queue.context).device).counters.live_shared_receive_queues.fetch_sub(1);
  release_slot(run.header().shared_receive_queue_table, run.at(run.header().shared_receive_queues),
               slot);
}

}  // namespace rocelane::softverbs
