#include "softverbs/timed/requester.h"

#include <algorithm>

#include "softverbs/engine/addresses.h"
#include "softverbs/engine/async_events.h"
#include "softverbs/engine/completions.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/engine/timers.h"
#include "softverbs/timed/bursts.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/faults.h"
#include "softverbs/timed/links.h"
#include "softverbs/timed/window.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr uint32_t kRetryVendorError = 0x81;

// DSCP / 8.
uint8_t priority_of(const QueuePair& pair) {
  return static_cast<uint8_t>(pair.attributes.ah_attr.grh.traffic_class >> 5U);
}

// What was begun is finished while the queue drains, repetitions included.
bool may_send(const QueuePair& pair) {
  const Requester& requester = pair.requester;
  const uint32_t state = pair.state.load();
  return state == IBV_QPS_RTS ||
         (state == IBV_QPS_SQD &&
          (requester.cursor_offset > 0 || requester.cursor_psn != requester.sent_psn));
}

// The requester an answer is for; kNone when it is gone or does not wait for it.
uint32_t addressee(Run& run, const Burst& answer) {
  const uint32_t slot = queue_pair_slot(run, answer.to_number);
  if (slot == kNone) {
    return kNone;
  }
  const QueuePair& pair = run.queue_pair(slot);
  const uint32_t state = pair.state.load();
  const bool sends = state == IBV_QPS_RTS || state == IBV_QPS_SQD;
  return sends && pair.attributes.dest_qp_num == answer.from_number &&
                 is_plausible(pair.requester, answer.psn)
             ? slot
             : kNone;
}

void announce_drained(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  if (pair.state.load() == IBV_QPS_SQD && !pair.requester.sends_drained &&
      pair.requester.cursor_offset == 0 &&
      pair.requester.cursor_psn == pair.requester.acknowledged_psn) {
    pair.requester.sends_drained = true;
    if (pair.attributes.en_sqd_async_notify != 0) {
      raise_queue_pair_event(run, slot, IBV_EVENT_SQ_DRAINED);
    }
  }
}

uint32_t make_data_burst(Run& run, uint32_t slot, const SendView& view) {
  QueuePair& pair = run.queue_pair(slot);
  const Requester& requester = pair.requester;
  const SendEntry& entry = view.entry;
  const bool reads = entry.opcode == IBV_WR_RDMA_READ;
  const uint32_t left = entry.bytes - requester.cursor_offset;
  const uint32_t bytes = std::min(left, burst_bytes(run));
  HeldRegions held(run);
  Pieces payload(entry.is_inline ? run.process() : pair.process);
  if (!find_payload(pair, view, held, &payload)) {
    // In its turn: what was sent before it ends first.
    if (pair.completed.load() == requester.cursor_index) {
      fail(run, slot, IBV_WC_LOC_PROT_ERR, 0);
    }
    return kNone;
  }
  const uint32_t number = new_burst(run, reads ? 0 : bytes);
  if (number == kNone) {
    return kNone;
  }
  Burst& burst = burst_at(run, number);
  burst.kind = reads ? Burst::Kind::kReadRequest : Burst::Kind::kData;
  burst.psn = requester.cursor_psn;
  burst.fragment.offset = requester.cursor_offset;
  burst.fragment.message_bytes = entry.bytes;
  burst.fragment.opcode = entry.opcode;
  burst.fragment.remote_address = entry.remote_address + requester.cursor_offset;
  burst.fragment.remote_key = entry.remote_key;
  burst.fragment.immediate = entry.immediate;
  burst.fragment.bytes = bytes;
  burst.fragment.first = requester.cursor_offset == 0;
  burst.fragment.last = bytes == left;
  // As a NIC does: the data are those of the moment they leave. A process that has died sends none.
  if (!reads && !copy(run, payload.part(requester.cursor_offset, bytes), payload_of(run, burst))) {
    free_burst(run, number);
    return kNone;
  }
  return number;
}

void advance_cursor(QueuePair& pair, const Burst& burst) {
  Requester& requester = pair.requester;
  requester.cursor_psn = (requester.cursor_psn + 1) & kPsnMask;
  if (const uint32_t further = distance(requester.sent_psn, requester.cursor_psn);
      further < kHalfOfPsns) {
    requester.sent_psn = requester.cursor_psn;
  }
  requester.in_flight_bytes += burst.fragment.bytes;
  requester.cursor_offset += burst.fragment.bytes;
  if (burst.kind == Burst::Kind::kReadRequest && burst.fragment.first) {
    ++requester.reads_in_flight;
  }
  if (burst.fragment.last) {
    ++requester.cursor_index;
    requester.cursor_offset = 0;
  }
}

// Finds the path that packets take now, if the one known is out of date.
void find_path(Run& run, QueuePair& pair) {
  Requester& requester = pair.requester;
  const uint32_t epoch = run.fabric().path_epoch.load();
  if (requester.has_path && requester.path_epoch == epoch) {
    return;
  }
  const Flow flow{static_cast<int>(pair.device), static_cast<int>(pair.peer_device),
                  pair.udp_source_port, pair.lag_port};
  const uint64_t now_ns = run.now_ns();
  const auto path = run.topology().path_of(
      flow, [&](int link) { return is_avoided(run, static_cast<uint32_t>(link), now_ns); });
  Gid to_gid;
  std::copy_n(std::begin(pair.attributes.ah_attr.grh.dgid.raw), to_gid.size(), to_gid.begin());
  requester.no_path = !path || packets_vanish(run, pair.device, pair.peer_device, to_gid);
  requester.path = path.value_or(Path{});
  requester.has_path = true;
  requester.path_epoch = epoch;
}

enum class Turn : uint8_t { kSend, kWait, kOver };

// What becomes of the request at the cursor.
Turn prepare_entry(Run& run, uint32_t slot, SendEntry& entry) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  if (requester.cursor_offset == 0) {
    entry.first_psn = requester.cursor_psn;
    entry.bursts = bursts_of(run, entry);
    entry.acknowledged_bytes = 0;
    entry.read_bursts = 0;
  }
  if (const auto ending = forced_ending(run, entry)) {
    if (pair.completed.load() != requester.cursor_index) {
      return Turn::kWait;
    }
    if (ending->status != IBV_WC_SUCCESS) {
      fail(run, slot, ending->status, ending->vendor_error);
      return Turn::kWait;
    }
    finish(run, slot, requester.cursor_index++, entry, IBV_WC_SUCCESS);
    return Turn::kOver;
  }
  const uint32_t most_reads = std::max<uint32_t>(1, pair.attributes.max_rd_atomic);
  const bool begins = requester.cursor_offset == 0;
  const bool one_too_many =
      entry.opcode == IBV_WR_RDMA_READ && requester.reads_in_flight >= most_reads;
  const bool at_fence = entry.fenced && requester.reads_in_flight > 0;
  return begins && (one_too_many || at_fence) ? Turn::kWait : Turn::kSend;
}

// Sends one burst, or ends a request. False when nothing more can be done now.
bool send_next(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  if (!may_send(pair) || run.now_ns() < requester.wait_until_ns ||
      requester.cursor_index >= pair.posted.load() ||
      requester.in_flight_bytes >= run.description().fabric.window_bytes) {
    return false;
  }
  SendEntry& entry = entry_at(run, pair, requester.cursor_index);
  if (const Turn turn = prepare_entry(run, slot, entry); turn != Turn::kSend) {
    return turn == Turn::kOver;
  }
  find_path(run, pair);
  if (!requester.no_path && requester.path.length > 0 && run.link(requester.path.links[0]).busy) {
    wait_for_link(run, requester.path.links[0], priority_of(pair), slot);
    return false;
  }
  const uint32_t number = make_data_burst(run, slot, view_at(run, pair, requester.cursor_index));
  if (number == kNone) {
    // Without memory, or the data of a process that has died: as if lost on the way.
    if (requester.deadline_ns == 0 && pair.state.load() != IBV_QPS_ERR) {
      start_timer(run, slot);
    }
    return false;
  }
  Burst& burst = burst_at(run, number);
  if (burst.fragment.offset == 0) {
    ++entry.transmissions;
  }
  burst.extra_delay_ns = extra_delay_ns(run, entry);
  const bool leaves = address(run, slot, burst) && !drops_request(run, entry);
  advance_cursor(pair, burst);
  if (requester.deadline_ns == 0) {
    start_timer(run, slot);
  }
  if (leaves) {
    launch(run, number);
  } else {
    log_burst(run, "dropped", burst);
    free_burst(run, number);
  }
  return true;
}

}  // namespace

void pump(Run& run, uint32_t slot) {
  while (send_next(run, slot)) {
  }
  announce_drained(run, slot);
}

void take_acknowledgement(Run& run, const Burst& answer) {
  const uint32_t slot = addressee(run, answer);
  if (slot != kNone) {
    acknowledge(run, slot, answer.psn);
    pump(run, slot);
  }
}

void take_refusal(Run& run, const Burst& answer) {
  const uint32_t slot = addressee(run, answer);
  if (slot == kNone) {
    return;
  }
  QueuePair& pair = run.queue_pair(slot);
  acknowledge(run, slot, answer.psn);
  if (pair.state.load() == IBV_QPS_ERR || pair.completed.load() == pair.posted.load()) {
    return;
  }
  Requester& requester = pair.requester;
  // It is about a later request than the first one without an answer: a READ whose data were lost,
  // or one whose acknowledgement the script keeps back. The timer sends both again.
  if (answer.refusal != Verdict::kOutOfSequence && answer.psn != requester.acknowledged_psn) {
    return;
  }
  DeviceCounters& counters = run.device(pair.device).counters;
  switch (answer.refusal) {
    case Verdict::kOutOfSequence:
      go_back(run, slot, requester.acknowledged_psn);
      break;
    case Verdict::kReceiverNotReady:
      counters.rnr_nak_received.add(1);
      if (requester.rnr_retries_left == 0) {
        fail(run, slot, IBV_WC_RNR_RETRY_EXC_ERR, kRetryVendorError);
        return;
      }
      if (requester.rnr_retries_left != kRetryForEver) {
        --requester.rnr_retries_left;
      }
      go_back(run, slot, requester.acknowledged_psn);
      requester.deadline_ns = 0;
      requester.wait_until_ns = run.now_ns() + receiver_not_ready_ns(answer.rnr_timer);
      schedule(run, requester.wait_until_ns, Event::Kind::kWaitOver, slot, slot);
      return;
    case Verdict::kRemoteAccess:
      fail(run, slot, IBV_WC_REM_ACCESS_ERR, 0);
      return;
    case Verdict::kRemoteInvalid:
      fail(run, slot, IBV_WC_REM_INV_REQ_ERR, 0);
      return;
    default:
      fail(run, slot, IBV_WC_REM_OP_ERR, 0);
      return;
  }
  pump(run, slot);
}

void take_read_data(Run& run, const Burst& answer) {
  const uint32_t slot = addressee(run, answer);
  if (slot == kNone) {
    return;
  }
  QueuePair& pair = run.queue_pair(slot);
  // Everything before the READ has arrived too.
  acknowledge(run, slot, answer.psn);
  const uint64_t index = pair.completed.load();
  if (index >= pair.posted.load() || pair.state.load() == IBV_QPS_ERR) {
    return;
  }
  SendEntry& entry = entry_at(run, pair, index);
  const uint32_t offset = entry.read_bursts * burst_bytes(run);
  if (entry.opcode != IBV_WR_RDMA_READ || entry.transmissions == 0 ||
      distance(entry.first_psn, answer.psn) != entry.read_bursts ||
      answer.fragment.offset != offset) {
    return;  // out of order, or an answer to a request that has been repeated since
  }
  HeldRegions held(run);
  Pieces target(pair.process);
  if (!find_payload(pair, view_at(run, pair, index), held, &target)) {
    fail(run, slot, IBV_WC_LOC_PROT_ERR, 0);
    return;
  }
  copy(run, payload_of(run, answer), target.part(offset, answer.payload_bytes));
  ++entry.read_bursts;
  acknowledge(run, slot, (answer.psn + 1) & kPsnMask);
  pump(run, slot);
}

void timer_fires(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  if (pair.use.load() != Use::kLive || !requester.timer_queued) {
    return;
  }
  requester.timer_queued = false;
  const uint32_t state = pair.state.load();
  if (requester.deadline_ns == 0 || pair.completed.load() == pair.posted.load() ||
      (state != IBV_QPS_RTS && state != IBV_QPS_SQD)) {
    return;
  }
  if (run.now_ns() < requester.deadline_ns) {
    requester.timer_queued = true;
    schedule(run, requester.deadline_ns, Event::Kind::kTimer, slot, slot);
    return;
  }
  if (requester.retries_left == 0) {
    run.device(pair.device).counters.retry_exceeded.add(1);
    fail(run, slot, IBV_WC_RETRY_EXC_ERR, kRetryVendorError);
    return;
  }
  --requester.retries_left;
  log_queue_pair(run, "timeout", slot);
  go_back(run, slot, requester.acknowledged_psn);
  start_timer(run, slot);
  pump(run, slot);
}

void wait_is_over(Run& run, uint32_t slot) {
  if (run.queue_pair(slot).use.load() == Use::kLive) {
    pump(run, slot);
  }
}

bool address(Run& run, uint32_t slot, Burst& burst) {
  QueuePair& pair = run.queue_pair(slot);
  find_path(run, pair);
  burst.from_slot = slot;
  burst.from_number = pair.number;
  burst.from_device = pair.device;
  burst.to_device = pair.peer_device;
  burst.to_number = pair.attributes.dest_qp_num;
  burst.from_mtu = 128U << pair.attributes.path_mtu;
  burst.roce_v2 = pair.roce_v2;
  std::copy_n(std::begin(pair.attributes.ah_attr.grh.dgid.raw), burst.to_gid.size(),
              burst.to_gid.begin());
  burst.priority = priority_of(pair);
  burst.path = pair.requester.path;
  measure(burst, burst.from_mtu);
  const Device& device = run.device(pair.device);
  return !pair.requester.no_path && device.port_up.load() && !device.fatal.load();
}

void settle_requester(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  requester.waits_for_link = false;
  requester.timer_queued = false;
  requester.deadline_ns = 0;
  const Completion last = last_completion(run, pair.send_queue);
  uint64_t completed = std::max(pair.completed.load(), pair.retired.load());
  if (last.kind == Completion::Kind::kSend && last.source == slot &&
      last.queue_pair_number == pair.number && last.send_index == completed) {
    ++completed;
  }
  pair.completed.store(std::min(completed, pair.posted.load()));
}

void begin_again(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Requester& requester = pair.requester;
  const uint32_t state = pair.state.load();
  if (state != IBV_QPS_RTS && state != IBV_QPS_SQD) {
    return;
  }
  acknowledge(run, slot, requester.acknowledged_psn);
  if (pair.completed.load() == pair.posted.load()) {
    return;
  }
  go_back(run, slot, requester.acknowledged_psn);
  if (run.now_ns() < requester.wait_until_ns) {
    schedule(run, requester.wait_until_ns, Event::Kind::kWaitOver, slot, slot);
  }
  pump(run, slot);
}

}  // namespace rocelane::softverbs::timed
