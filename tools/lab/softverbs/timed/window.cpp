#include "softverbs/timed/window.h"

#include <algorithm>

#include "softverbs/engine/send_queue.h"
#include "softverbs/engine/timers.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/faults.h"

namespace rocelane::softverbs::timed {
namespace {

// The next packet to send is this one: everything before it is acknowledged, nothing behind it
// counts as sent.
void move_cursor(Run& run, uint32_t slot, uint32_t psn) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  requester.in_flight_bytes = 0;
  requester.reads_in_flight = 0;
  requester.cursor_psn = psn;
  requester.cursor_offset = 0;
  for (uint64_t index = pair.completed.load(); index < pair.posted.load(); ++index) {
    SendEntry& entry = entry_at(run, pair, index);
    requester.cursor_index = index;
    if (entry.transmissions == 0) {
      return;
    }
    const uint32_t behind = distance(entry.first_psn, psn);
    if (behind < entry.bursts) {
      requester.cursor_offset = behind * burst_bytes(run);
      entry.acknowledged_bytes = requester.cursor_offset;
      entry.read_bursts = behind;
      requester.reads_in_flight = entry.opcode == IBV_WR_RDMA_READ && behind > 0 ? 1 : 0;
      return;
    }
  }
  requester.cursor_index = pair.posted.load();
}

// How many of the request's bursts an answer ends. A READ's data are their own acknowledgement, and
// the script may keep the sender from learning of it.
uint32_t acknowledged_bursts(const Run& run, const SendEntry& entry, uint32_t psn) {
  const uint32_t behind = distance(entry.first_psn, psn);
  if (entry.transmissions == 0 || behind >= kHalfOfPsns || drops_acknowledgement(run, entry)) {
    return 0;
  }
  const uint32_t arrived = entry.opcode == IBV_WR_RDMA_READ ? entry.read_bursts : entry.bursts;
  return std::min(behind, arrived);
}

}  // namespace

uint32_t bursts_of(const Run& run, const SendEntry& entry) {
  return std::max(1U, (entry.bytes + burst_bytes(run) - 1) / burst_bytes(run));
}

void fail(Run& run, uint32_t slot, uint32_t status, uint32_t vendor_error) {
  QueuePair& pair = run.queue_pair(slot);
  const uint64_t index = pair.completed.load();
  finish(run, slot, index, entry_at(run, pair, index), status, vendor_error);
  log_queue_pair(run, "failed", slot);
  flush(run, slot);
}

void start_timer(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  const uint64_t timeout_ns = acknowledgement_timeout_ns(pair.attributes.timeout);
  requester.deadline_ns = timeout_ns == 0 ? 0 : run.now_ns() + timeout_ns;
  if (timeout_ns != 0 && !requester.timer_queued) {
    requester.timer_queued = true;
    schedule(run, requester.deadline_ns, Event::Kind::kTimer, slot, slot);
  }
}

void go_back(Run& run, uint32_t slot, uint32_t psn) {
  move_cursor(run, slot, psn);
  run.queue_pair(slot).counters.retransmissions.add(1);
}

bool is_plausible(const Requester& requester, uint32_t psn) {
  return distance(requester.acknowledged_psn, psn) <=
         distance(requester.acknowledged_psn, requester.sent_psn);
}

void acknowledge(Run& run, uint32_t slot, uint32_t psn) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  bool progress = false;
  while (pair.completed.load() < pair.posted.load() && pair.state.load() != IBV_QPS_ERR) {
    const uint64_t index = pair.completed.load();
    SendEntry& entry = entry_at(run, pair, index);
    const uint32_t bursts = acknowledged_bursts(run, entry, psn);
    if (bursts == 0) {
      break;
    }
    const uint32_t up_to = (entry.first_psn + bursts) & kPsnMask;
    progress = progress || up_to != requester.acknowledged_psn;
    requester.acknowledged_psn = up_to;
    const bool whole = bursts == entry.bursts;
    const uint32_t bytes = whole ? entry.bytes : bursts * burst_bytes(run);
    if (bytes > entry.acknowledged_bytes) {
      requester.in_flight_bytes -=
          std::min<uint64_t>(requester.in_flight_bytes, bytes - entry.acknowledged_bytes);
      entry.acknowledged_bytes = bytes;
    }
    if (!whole) {
      break;
    }
    if (entry.opcode == IBV_WR_RDMA_READ) {
      requester.reads_in_flight -= std::min(requester.reads_in_flight, 1U);
    }
    if (!finish(run, slot, index, entry, IBV_WC_SUCCESS)) {
      flush(run, slot);
      return;
    }
    log_queue_pair(run, "progress", slot);
  }
  // What is sent again after a loss may turn out to have arrived.
  const uint32_t ahead = distance(requester.cursor_psn, requester.acknowledged_psn);
  if (ahead != 0 && ahead < kHalfOfPsns) {
    move_cursor(run, slot, requester.acknowledged_psn);
  }
  if (pair.completed.load() == pair.posted.load()) {
    pair.pending.store(false);
  }
  if (progress) {
    requester.retries_left = pair.attributes.retry_cnt;
    requester.rnr_retries_left = pair.attributes.rnr_retry;
    requester.deadline_ns = 0;
    if (requester.cursor_psn != requester.acknowledged_psn) {
      start_timer(run, slot);
    }
  }
}

}  // namespace rocelane::softverbs::timed
