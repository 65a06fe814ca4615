#include "softverbs/timed/responder.h"

#include <algorithm>

#include "softverbs/engine/addresses.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/timed/bursts.h"
#include "softverbs/timed/event_log.h"
#include "softverbs/timed/event_queue.h"
#include "softverbs/timed/links.h"
#include "softverbs/timed/requester.h"

namespace rocelane::softverbs::timed {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint32_t kHalfOfPsns = 0x800000;

void send_answer(Run& run, uint32_t slot, Burst::Kind kind, uint32_t psn, Verdict refusal) {
  const uint32_t number = new_burst(run, 0);
  if (number == kNone) {
    return;
  }
  Burst& burst = burst_at(run, number);
  burst.kind = kind;
  burst.psn = psn;
  burst.refusal = refusal;
  burst.rnr_timer = run.queue_pair(slot).attributes.min_rnr_timer;
  if (address(run, slot, burst)) {
    launch(run, number);
  } else {
    free_burst(run, number);
  }
}

void acknowledge(Run& run, uint32_t slot) {
  send_answer(run, slot, Burst::Kind::kAcknowledgement, run.queue_pair(slot).responder.expected_psn,
              Verdict::kTaken);
}

void refuse(Run& run, uint32_t slot, Verdict why) {
  send_answer(run, slot, Burst::Kind::kRefusal, run.queue_pair(slot).responder.expected_psn, why);
}

// `request` is a copy: answering makes new bursts, which may move all of them.
Verdict answer_read(Run& run, uint32_t slot, const Burst& request, bool repeated) {
  HeldRegions held(run);
  Pieces data(run.queue_pair(slot).process);
  const Verdict verdict = find_read_data(run, slot, request.fragment, repeated, held, &data);
  const uint32_t number =
      verdict == Verdict::kTaken ? new_burst(run, request.fragment.bytes) : kNone;
  if (number == kNone) {
    return verdict;
  }
  Burst& burst = burst_at(run, number);
  burst.kind = Burst::Kind::kReadData;
  burst.psn = request.psn;
  burst.fragment.offset = request.fragment.offset;
  // A process that has died answers nothing.
  const bool read = copy(run, data, payload_of(run, burst));
  if (read && address(run, slot, burst)) {
    launch(run, number);
  } else {
    free_burst(run, number);
  }
  return read ? Verdict::kTaken : Verdict::kSilence;
}

bool mtus_clash(const QueuePair& to, const Burst& burst) {
  const uint32_t mtu = 128U << to.attributes.path_mtu;
  return mtu != burst.from_mtu && burst.fragment.message_bytes > std::min(mtu, burst.from_mtu);
}

void take_request(Run& run, uint32_t slot, const Burst& burst) {
  QueuePair& to = run.queue_pair(slot);
  Responder& responder = to.responder;
  DeviceCounters& counters = run.device(to.device).counters;
  const uint32_t ahead = (burst.psn - responder.expected_psn) & kPsnMask;
  const bool reads = burst.kind == Burst::Kind::kReadRequest;
  if (ahead >= kHalfOfPsns) {
    counters.duplicate_requests.add(1);
    reads ? static_cast<void>(answer_read(run, slot, burst, true)) : acknowledge(run, slot);
    return;
  }
  if (ahead > 0) {
    counters.out_of_sequence.add(1);
    if (!responder.nak_sent) {
      responder.nak_sent = true;
      refuse(run, slot, Verdict::kOutOfSequence);
    }
    return;
  }
  Verdict verdict = Verdict::kRemoteInvalid;
  if (mtus_clash(to, burst)) {
    to.state.store(IBV_QPS_ERR);
  } else {
    verdict = reads ? answer_read(run, slot, burst, false)
                    : place(run, slot, burst.fragment, payload_of(run, burst));
  }
  if (verdict == Verdict::kTaken) {
    responder.nak_sent = false;
    responder.expected_psn = (responder.expected_psn + 1) & kPsnMask;
    if (!reads) {
      acknowledge(run, slot);
    }
  } else if (verdict == Verdict::kReceiverNotReady) {
    // What follows is not out of sequence: it comes again after the wait.
    responder.nak_sent = true;
    refuse(run, slot, verdict);
  } else if (verdict != Verdict::kSilence) {
    refuse(run, slot, verdict);
    flush(run, slot);
  }
}

bool is_request(const Burst& burst) {
  return burst.kind == Burst::Kind::kData || burst.kind == Burst::Kind::kReadRequest;
}

bool listens(const QueuePair& to, const Burst& burst) {
  const uint32_t state = to.state.load();
  return (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD) &&
         to.device == burst.to_device && to.peer_device == burst.from_device &&
         to.attributes.dest_qp_num == burst.from_number;
}

void hand_over(Run& run, const Burst& burst) {
  switch (burst.kind) {
    case Burst::Kind::kAcknowledgement:
      take_acknowledgement(run, burst);
      return;
    case Burst::Kind::kRefusal:
      take_refusal(run, burst);
      return;
    case Burst::Kind::kReadData:
      take_read_data(run, burst);
      return;
    default:
      break;
  }
  const uint32_t slot = queue_pair_slot(run, burst.to_number);
  if (slot != kNone && listens(run.queue_pair(slot), burst)) {
    take_request(run, slot, burst);
  }
}

// A slow receiver takes one burst at a time.
bool has_to_wait(Run& run, uint32_t number) {
  Burst& burst = burst_at(run, number);
  Device& device = run.device(burst.to_device);
  const uint64_t slow_ns = device.slow_ns.load();
  if (slow_ns == 0 || burst.delayed_by_receiver || !is_request(burst)) {
    return false;
  }
  burst.delayed_by_receiver = true;
  device.receiving_until_ns = std::max(device.receiving_until_ns, run.now_ns()) + slow_ns;
  schedule(run, device.receiving_until_ns, Event::Kind::kDeliver, number, burst.from_slot);
  return true;
}

void count_mark(Run& run, const Burst& burst) {
  if (burst.marked) {
    run.device(burst.to_device).counters.ecn_marked_packets.add(burst.packets);
    run.device(burst.from_device).counters.congestion_notifications.add(1);
  }
}

}  // namespace

void deliver(Run& run, uint32_t number) {
  if (has_to_wait(run, number)) {
    return;
  }
  const Burst burst = burst_at(run, number);
  const Device& device = run.device(burst.to_device);
  if (device.port_up.load() && !device.fatal.load() &&
      has_gid(run, burst.to_device, burst.to_gid, burst.roce_v2)) {
    log_burst(run, "arrived", burst);
    count_mark(run, burst);
    hand_over(run, burst);
  } else {
    log_burst(run, "ignored", burst);
  }
  free_burst(run, number);
}

}  // namespace rocelane::softverbs::timed
