#include "softverbs/engine/completions.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "softverbs/engine/async_events.h"

namespace rocelane::softverbs {
namespace {

void advance(std::atomic<uint64_t>& counter, uint64_t to) {
  if (counter.load(std::memory_order_relaxed) < to) {
    counter.store(to, std::memory_order_release);
  }
}

// The work requests that a completion stands for have left their queue.
void retire(Run& run, const Completion& completion) {
  QueuePair& pair = run.queue_pair(completion.source);
  switch (completion.kind) {
    case Completion::Kind::kSend:
      advance(pair.retired, completion.send_index + 1);
      return;
    case Completion::Kind::kReceive:
      pair.receives.retired.fetch_add(1);
      return;
    case Completion::Kind::kSharedReceive:
      run.shared_receive_queue(pair.shared_receive_queue).queue.retired.fetch_add(1);
      return;
  }
}

void fill(const Completion& from, ibv_wc* to) {
  *to = {};
  to->wr_id = from.wr_id;
  to->status = static_cast<ibv_wc_status>(from.status);
  to->opcode = static_cast<ibv_wc_opcode>(from.opcode);
  to->vendor_err = from.vendor_error;
  to->byte_len = from.bytes;
  to->imm_data = from.immediate;
  to->qp_num = from.queue_pair_number;
  to->wc_flags = from.flags;
}

void tell_channel(Run& run, CompletionQueue& queue, uint32_t slot) {
  if (queue.channel != kNone && queue.armed.exchange(0) != 0) {
    const ChannelRecord record{slot};
    run.pipes().write("channel", queue.channel, &record, sizeof record);
  }
}

}  // namespace

uint32_t create_completion_queue(Run& run, uint32_t context, uint32_t entries, uint32_t channel,
                                 uint64_t cookie) {
  const uint32_t device_number = run.context(context).device;
  DeviceCounters& counters = run.device(device_number).counters;
  const uint32_t most = run.description().devices[device_number].limits.completion_queues;
  const bool allowed = counters.live_completion_queues.fetch_add(1) < most;
  const uint32_t slot = allowed ? run.claim(run.header().completion_queue_table,
                                            run.header().completion_queues, kMostCompletionQueues)
                                : kNone;
  const auto ring =
      slot == kNone ? Offset<Completion>{} : run.allocate<Completion>(entries * sizeof(Completion));
  if (!ring) {
    if (slot != kNone) {
      release_slot(run.header().completion_queue_table, run.at(run.header().completion_queues),
                   slot);
    }
    counters.live_completion_queues.fetch_sub(1);
    errno = ENOMEM;
    return kNone;
  }
  CompletionQueue& queue = run.completion_queue(slot);
  queue.mutex.initialise();
  queue.process = run.process();
  queue.context = context;
  queue.cookie = cookie;
  queue.channel = channel;
  queue.armed.store(0);
  queue.capacity = entries;
  queue.ring = ring;
  queue.head.store(0);
  queue.tail.store(0);
  queue.overflowed.store(false);
  queue.users.store(0);
  queue.use.store(Use::kLive);
  return slot;
}

void destroy_completion_queue(Run& run, uint32_t slot) {
  CompletionQueue& queue = run.completion_queue(slot);
  queue.use.store(Use::kClaimed);
  { const std::lock_guard wait_for_pushers(queue.mutex); }
  run.release(queue.ring, queue.capacity * sizeof(Completion));
  run.device(run.context(queue.context).device).counters.live_completion_queues.fetch_sub(1);
  release_slot(run.header().completion_queue_table, run.at(run.header().completion_queues), slot);
}

bool push_completion(Run& run, uint32_t slot, const Completion& completion) {
  CompletionQueue& queue = run.completion_queue(slot);
  run.queue_pair(completion.source).counters.completions.add(1);
  {
    const std::lock_guard lock(queue.mutex);
    const uint64_t tail = queue.tail.load(std::memory_order_relaxed);
    if (tail - queue.head.load(std::memory_order_relaxed) < queue.capacity) {
      run.at(queue.ring)[tail % queue.capacity] = completion;
      queue.tail.store(tail + 1, std::memory_order_release);
      tell_channel(run, queue, slot);
      return true;
    }
  }
  if (!queue.overflowed.exchange(true)) {
    raise_completion_queue_event(run, slot);
  }
  return false;
}

int take_completions(Run& run, uint32_t slot, int most, ibv_wc* entries) {
  CompletionQueue& queue = run.completion_queue(slot);
  DeviceCounters& counters = run.device(run.context(queue.context).device).counters;
  counters.polls.add(1);
  if (queue.head.load(std::memory_order_relaxed) == queue.tail.load(std::memory_order_acquire)) {
    counters.empty_polls.add(1);
    return queue.overflowed.load(std::memory_order_relaxed) ? -1 : 0;
  }
  int taken = 0;
  const std::lock_guard lock(queue.mutex);
  uint64_t head = queue.head.load(std::memory_order_relaxed);
  const uint64_t tail = queue.tail.load(std::memory_order_relaxed);
  for (; taken < most && head != tail; ++taken, ++head) {
    const Completion& completion = run.at(queue.ring)[head % queue.capacity];
    fill(completion, &entries[taken]);
    retire(run, completion);
  }
  queue.head.store(head, std::memory_order_release);
  return taken;
}

Completion last_completion(Run& run, uint32_t slot) {
  CompletionQueue& queue = run.completion_queue(slot);
  const std::lock_guard lock(queue.mutex);
  const uint64_t tail = queue.tail.load(std::memory_order_relaxed);
  if (tail == 0) {
    Completion none{};
    none.source = kNone;
    return none;
  }
  return run.at(queue.ring)[(tail - 1) % queue.capacity];
}

void forget_completions(Run& run, uint32_t slot, uint32_t queue_pair) {
  CompletionQueue& queue = run.completion_queue(slot);
  const std::lock_guard lock(queue.mutex);
  Completion* ring = run.at(queue.ring);
  const uint64_t tail = queue.tail.load(std::memory_order_relaxed);
  uint64_t kept = tail;
  // From the newest back, so that the oldest stays at the head.
  const uint64_t head = queue.head.load(std::memory_order_relaxed);
  for (uint64_t i = tail; i != head; --i) {
    const Completion& completion = ring[(i - 1) % queue.capacity];
    if (completion.source == queue_pair) {
      retire(run, completion);
    } else {
      ring[--kept % queue.capacity] = completion;
    }
  }
  // last_completion() must not take one of an earlier life for one of the next.
  if (tail != 0 && ring[(tail - 1) % queue.capacity].source == queue_pair) {
    ring[(tail - 1) % queue.capacity].source = kNone;
  }
  queue.head.store(kept, std::memory_order_release);
}

void arm(Run& run, uint32_t slot) {
  CompletionQueue& queue = run.completion_queue(slot);
  queue.armed.store(1);
}

}  // namespace rocelane::softverbs
