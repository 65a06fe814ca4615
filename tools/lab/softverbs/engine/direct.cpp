#include "softverbs/engine/direct.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include "softverbs/engine/completions.h"
#include "softverbs/engine/delivery.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/engine/timers.h"
#include "softverbs/segment/process_table.h"

namespace rocelane::softverbs::direct {
namespace {

constexpr uint32_t kRetryVendorError = 0x81;
constexpr uint32_t kPsnMask = 0xffffff;

// The queue pairs of this process with something that waits. Never destroyed: threads may look to
// the end of the process.
std::mutex waiting_mutex;
auto& waiting = *new std::vector<uint32_t>;
std::atomic<size_t> waiting_count{0};

void remember_waiting(uint32_t slot) {
  const std::lock_guard lock(waiting_mutex);
  if (std::find(waiting.begin(), waiting.end(), slot) == waiting.end()) {
    waiting.push_back(slot);
    waiting_count.store(waiting.size());
  }
}

void forget_waiting(uint32_t slot) {
  const std::lock_guard lock(waiting_mutex);
  std::erase(waiting, slot);
  waiting_count.store(waiting.size());
}

uint32_t status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kTaken:
      return IBV_WC_SUCCESS;
    case Verdict::kRemoteAccess:
      return IBV_WC_REM_ACCESS_ERR;
    case Verdict::kRemoteInvalid:
      return IBV_WC_REM_INV_REQ_ERR;
    case Verdict::kReceiverNotReady:
      return IBV_WC_RNR_RETRY_EXC_ERR;
    case Verdict::kSilence:
    case Verdict::kOutOfSequence:
      return IBV_WC_RETRY_EXC_ERR;
    case Verdict::kRemoteOperation:
      return IBV_WC_REM_OP_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

uint32_t mtu_bytes(const QueuePair& pair) { return 128U << pair.attributes.path_mtu; }

// Packets of a length that the other end does not expect.
bool mtus_clash(const QueuePair& from, const QueuePair& to, uint32_t bytes) {
  return mtu_bytes(from) != mtu_bytes(to) && bytes > std::min(mtu_bytes(from), mtu_bytes(to));
}

std::atomic<bool>& awaited(Run& run, QueuePair& to) {
  return to.shared_receive_queue == kNone
             ? to.receive_awaited
             : run.shared_receive_queue(to.shared_receive_queue).awaited;
}

struct Attempt {
  Verdict verdict = Verdict::kSilence;
  bool local_error = false;
  uint32_t peer = kNone;  // to flush when the verdict is an error
  uint8_t rnr_timer = 0;  // the peer's
};

Verdict hand_over(Run& run, QueuePair& to, uint32_t peer, const SendView& view,
                  const Pieces& payload) {
  const SendEntry& entry = view.entry;
  Fragment fragment;
  fragment.opcode = entry.opcode;
  fragment.remote_address = entry.remote_address;
  fragment.remote_key = entry.remote_key;
  fragment.immediate = entry.immediate;
  fragment.bytes = entry.bytes;
  fragment.message_bytes = entry.bytes;
  if (entry.opcode != IBV_WR_RDMA_READ) {
    return place(run, peer, fragment, payload);
  }
  HeldRegions held(run);
  Pieces data(to.process);
  const Verdict verdict = find_read_data(run, peer, fragment, false, held, &data);
  if (verdict == Verdict::kTaken && !copy(run, data, payload)) {
    return Verdict::kSilence;
  }
  return verdict;
}

// One try of one work request. The caller holds pair.send_mutex.
Attempt attempt(Run& run, uint32_t slot, const SendView& view) {
  QueuePair& pair = run.queue_pair(slot);
  Attempt result;
  HeldRegions held(run);
  Pieces payload(view.entry.is_inline ? run.process() : pair.process);
  if (!find_payload(pair, view, held, &payload)) {
    result.local_error = true;
    return result;
  }
  const uint32_t peer = queue_pair_slot(run, pair.attributes.dest_qp_num);
  if (peer == kNone) {
    return result;
  }
  QueuePair& to = run.queue_pair(peer);
  const std::lock_guard lock(to.responder_mutex);
  if (!listens_to(to, pair.attributes.dest_qp_num, pair) ||
      to.responder.expected_psn != pair.requester.next_psn) {
    return result;
  }
  result.peer = peer;
  result.rnr_timer = to.attributes.min_rnr_timer;
  if (mtus_clash(pair, to, view.entry.bytes)) {
    to.state.store(IBV_QPS_ERR);
    result.verdict = Verdict::kRemoteInvalid;
    return result;
  }
  result.verdict = hand_over(run, to, peer, view, payload);
  if (result.verdict == Verdict::kTaken) {
    to.responder.expected_psn = (to.responder.expected_psn + 1) & kPsnMask;
    pair.requester.next_psn = (pair.requester.next_psn + 1) & kPsnMask;
  }
  return result;
}

// Another try when a receive was posted in between: who posts it looks for waiters first and may
// have seen none.
Attempt attempt_or_await(Run& run, uint32_t slot, const SendView& view) {
  const Attempt result = attempt(run, slot, view);
  if (result.verdict != Verdict::kReceiverNotReady || result.local_error) {
    return result;
  }
  awaited(run, run.queue_pair(result.peer)).store(true);
  return attempt(run, slot, view);
}

bool has_run_out(const Run& run, QueuePair& pair, Requester::Stall stall, uint8_t rnr_timer) {
  Requester& requester = pair.requester;
  const uint64_t now_ns = run.now_ns();
  if (requester.stall != stall) {
    requester.stall = stall;
    requester.stalled_since_ns = now_ns;
  }
  const uint64_t waited_ns = now_ns - requester.stalled_since_ns;
  if (stall == Requester::Stall::kReceiverNotReady) {
    const uint8_t retries = pair.attributes.rnr_retry;
    return retries != kRetryForEver && waited_ns >= retries * receiver_not_ready_ns(rnr_timer);
  }
  const uint64_t timeout_ns = acknowledgement_timeout_ns(pair.attributes.timeout);
  return timeout_ns != 0 && waited_ns >= (pair.attributes.retry_cnt + 1U) * timeout_ns;
}

// Whether data of the queue pair can be copied here: one of the two ends is of this process.
// Whoever remembers a slot may find that it is another queue pair's by now.
bool concerns_this_process(Run& run, const QueuePair& pair) {
  const uint32_t peer = queue_pair_slot(run, pair.attributes.dest_qp_num);
  return pair.process == run.process() ||
         (peer != kNone && run.queue_pair(peer).process == run.process());
}

enum class Outcome : uint8_t { kDone, kWaits, kFailed };

// `to_flush` becomes the queue pair at the other end when that has gone to error.
Outcome carry_out(Run& run, uint32_t slot, uint64_t index, const SendView& view,
                  uint32_t* to_flush) {
  QueuePair& pair = run.queue_pair(slot);
  const Attempt result = attempt_or_await(run, slot, view);
  if (result.local_error) {
    finish(run, slot, index, view.entry, IBV_WC_LOC_PROT_ERR);
    return Outcome::kFailed;
  }
  switch (result.verdict) {
    case Verdict::kTaken:
      pair.requester.stall = Requester::Stall::kNothing;
      return finish(run, slot, index, view.entry, IBV_WC_SUCCESS) ? Outcome::kDone
                                                                  : Outcome::kFailed;
    case Verdict::kSilence:
    case Verdict::kReceiverNotReady: {
      const auto stall = result.verdict == Verdict::kSilence ? Requester::Stall::kSilent
                                                             : Requester::Stall::kReceiverNotReady;
      if (!has_run_out(run, pair, stall, result.rnr_timer)) {
        return Outcome::kWaits;
      }
      DeviceCounters& counters = run.device(pair.device).counters;
      (stall == Requester::Stall::kSilent ? counters.retry_exceeded : counters.rnr_nak_received)
          .add(1);
      break;
    }
    default:
      *to_flush = result.peer;
      break;
  }
  finish(run, slot, index, view.entry, status_of(result.verdict), kRetryVendorError);
  return Outcome::kFailed;
}

// Posts one work request; 0 or an errno value.
int post_one(Run& run, uint32_t slot, const ibv_send_wr& request, bool* failed,
             uint32_t* to_flush) {
  QueuePair& pair = run.queue_pair(slot);
  const uint32_t state = pair.state.load();
  if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR) {
    return EINVAL;
  }
  SendView view;
  if (const int error = read_request(pair, request, &view)) {
    return error;
  }
  if (state == IBV_QPS_RTS && !pair.pending.load()) {
    const uint64_t index = pair.posted.load(std::memory_order_relaxed);
    switch (carry_out(run, slot, index, view, to_flush)) {
      case Outcome::kFailed:
        *failed = true;
        [[fallthrough]];
      case Outcome::kDone:
        count_request(run, pair, view);
        pair.posted.store(index + 1);
        return 0;
      case Outcome::kWaits:
        break;
    }
  }
  if (!enqueue(run, pair, view)) {
    return ENOMEM;
  }
  count_request(run, pair, view);
  if (state == IBV_QPS_ERR) {
    *failed = true;  // to be flushed at once
  } else if (pair.process == run.process()) {
    remember_waiting(slot);
  }
  return 0;
}

}  // namespace

int post_send(Run& run, uint32_t slot, ibv_send_wr* first, ibv_send_wr** bad) {
  QueuePair& pair = run.queue_pair(slot);
  uint32_t to_flush = kNone;
  bool failed = false;
  int error = 0;
  {
    const std::lock_guard lock(pair.send_mutex);
    pair.counters.send_posts.add(1);
    for (ibv_send_wr* request = first; request != nullptr && error == 0; request = request->next) {
      error = post_one(run, slot, *request, &failed, &to_flush);
      if (error != 0) {
        *bad = request;
      }
    }
  }
  if (failed) {
    flush(run, slot);
  }
  if (to_flush != kNone) {
    flush(run, to_flush);
  }
  return error;
}

void progress(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  uint32_t to_flush = kNone;
  bool failed = false;
  {
    const std::lock_guard lock(pair.send_mutex);
    if (!concerns_this_process(run, pair)) {
      return;
    }
    const uint64_t posted = pair.posted.load();
    uint64_t index = pair.completed.load();
    for (; index < posted && pair.state.load() == IBV_QPS_RTS; ++index) {
      const Outcome outcome = carry_out(run, slot, index, view_at(run, pair, index), &to_flush);
      failed = outcome == Outcome::kFailed;
      if (outcome == Outcome::kWaits) {
        break;
      }
    }
    if (index >= posted) {
      pair.pending.store(false);
    }
  }
  if (failed) {
    flush(run, slot);
  }
  if (to_flush != kNone) {
    flush(run, to_flush);
  }
}

void progress_all(Run& run) {
  if (waiting_count.load(std::memory_order_relaxed) == 0) {
    return;
  }
  std::vector<uint32_t> slots;
  {
    const std::lock_guard lock(waiting_mutex);
    slots = waiting;
  }
  // A peer that has ended without a word may be what they wait for.
  reap_now_and_then(run);
  for (const uint32_t slot : slots) {
    const QueuePair& pair = run.queue_pair(slot);
    if (pair.use.load() == Use::kLive && pair.pending.load()) {
      progress(run, slot);
    }
    if (pair.use.load() != Use::kLive || !pair.pending.load() || pair.process != run.process()) {
      forget_waiting(slot);
    }
  }
}

void receiver_ready(Run& run, uint32_t slot) {
  const uint32_t peer = queue_pair_slot(run, run.queue_pair(slot).attributes.dest_qp_num);
  if (peer != kNone && run.queue_pair(peer).pending.load()) {
    progress(run, peer);
  }
}

void receive_posted(Run& run, uint32_t slot) {
  std::atomic<bool>& awaited = run.queue_pair(slot).receive_awaited;
  if (awaited.load(std::memory_order_relaxed) && awaited.exchange(false)) {
    receiver_ready(run, slot);
  }
}

void shared_receive_posted(Run& run, uint32_t queue) {
  std::atomic<bool>& awaited = run.shared_receive_queue(queue).awaited;
  if (!awaited.load(std::memory_order_relaxed) || !awaited.exchange(false)) {
    return;
  }
  const uint32_t high = std::min(run.header().queue_pair_table.high.load(), kMostQueuePairs);
  for (uint32_t slot = 0; slot < high; ++slot) {
    const QueuePair& pair = run.queue_pair(slot);
    if (pair.use.load() == Use::kLive && pair.shared_receive_queue == queue) {
      receiver_ready(run, slot);
    }
  }
}

}  // namespace rocelane::softverbs::direct
