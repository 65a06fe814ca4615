#include "softverbs/engine/delivery.h"

#include <algorithm>

#include "softverbs/engine/async_events.h"
#include "softverbs/engine/completions.h"
#include "softverbs/engine/receive_queues.h"

namespace rocelane::softverbs {
namespace {

bool is_send(uint32_t opcode) { return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM; }
bool has_immediate(uint32_t opcode) {
  return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

void fail(Run& run, uint32_t slot, Verdict verdict) {
  QueuePair& pair = run.queue_pair(slot);
  pair.state.store(IBV_QPS_ERR);
  run.device(pair.device).counters.access_errors.add(1);
  raise_queue_pair_event(
      run, slot,
      verdict == Verdict::kRemoteAccess ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
}

void check_limit(Run& run, uint32_t slot) {
  SharedReceiveQueue& shared = run.shared_receive_queue(slot);
  const uint32_t limit = shared.limit.load();
  const uint64_t left = shared.queue.posted.load() - shared.queue.taken.load();
  if (limit != 0 && left < limit && shared.limit.exchange(0) != 0) {
    raise_shared_receive_event(run, slot);
  }
}

// A receive that an attempt before this one has taken is good for the next one.
bool take(Run& run, QueuePair& pair) {
  Responder& responder = pair.responder;
  if (responder.receive_taken) {
    return true;
  }
  if (!take_receive(run, receives_of(run, pair), responder)) {
    return false;
  }
  if (pair.shared_receive_queue != kNone) {
    check_limit(run, pair.shared_receive_queue);
  }
  return true;
}

Completion receive_completion(const QueuePair& pair, uint32_t slot, uint32_t status) {
  Completion completion{};
  completion.wr_id = pair.responder.receive.wr_id;
  completion.status = status;
  completion.opcode = IBV_WC_RECV;
  completion.queue_pair_number = pair.number;
  completion.source = slot;
  completion.kind = pair.shared_receive_queue == kNone ? Completion::Kind::kReceive
                                                       : Completion::Kind::kSharedReceive;
  return completion;
}

// The receive that was taken ends with `status`, and the queue pair with it.
Verdict fail_receive(Run& run, uint32_t slot, uint32_t status, Verdict verdict) {
  QueuePair& pair = run.queue_pair(slot);
  pair.state.store(IBV_QPS_ERR);
  const Completion completion = receive_completion(pair, slot, status);
  pair.responder.receive_taken = false;
  push_completion(run, pair.receive_queue, completion);
  return verdict;
}

Verdict complete_receive(Run& run, uint32_t slot, const Fragment& fragment) {
  QueuePair& pair = run.queue_pair(slot);
  Completion completion = receive_completion(pair, slot, IBV_WC_SUCCESS);
  completion.opcode = is_send(fragment.opcode) ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM;
  completion.bytes = pair.responder.received_bytes;
  if (has_immediate(fragment.opcode)) {
    completion.immediate = fragment.immediate;
    completion.flags = IBV_WC_WITH_IMM;
  }
  completion.psn = pair.responder.expected_psn;
  const bool pushed = push_completion(run, pair.receive_queue, completion);
  pair.responder.receive_taken = false;
  if (!pushed) {
    pair.state.store(IBV_QPS_ERR);
    return Verdict::kRemoteOperation;
  }
  return Verdict::kTaken;
}

Verdict place_send(Run& run, uint32_t slot, const Fragment& fragment, const Pieces& data) {
  QueuePair& pair = run.queue_pair(slot);
  Responder& responder = pair.responder;
  if (fragment.first && !take(run, pair)) {
    return Verdict::kReceiverNotReady;
  }
  if (!responder.receive_taken) {  // the middle of a message whose beginning never came
    fail(run, slot, Verdict::kRemoteInvalid);
    return Verdict::kRemoteInvalid;
  }
  HeldRegions held(run);
  Pieces room(pair.process);
  if (!find_local(pair.domain, responder.sges.data(), responder.receive.sge_count,
                  IBV_ACCESS_LOCAL_WRITE, held, &room)) {
    return fail_receive(run, slot, IBV_WC_LOC_PROT_ERR, Verdict::kRemoteOperation);
  }
  const Pieces target = room.part(fragment.offset, fragment.bytes);
  uint64_t fits = 0;
  for (const Piece& piece : target.all()) {
    fits += piece.bytes;
  }
  if (fits < fragment.bytes) {
    return fail_receive(run, slot, IBV_WC_LOC_LEN_ERR, Verdict::kRemoteInvalid);
  }
  if (!copy(run, data, target)) {
    return Verdict::kSilence;
  }
  responder.received_bytes = fragment.offset + fragment.bytes;
  return fragment.last ? complete_receive(run, slot, fragment) : Verdict::kTaken;
}

Verdict place_write(Run& run, uint32_t slot, const Fragment& fragment, const Pieces& data) {
  QueuePair& pair = run.queue_pair(slot);
  const bool consumes = fragment.last && fragment.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  HeldRegions held(run);
  Pieces target(pair.process);
  if (fragment.bytes > 0) {
    uint64_t address = 0;
    if ((pair.attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) {
      fail(run, slot, Verdict::kRemoteInvalid);
      return Verdict::kRemoteInvalid;
    }
    const uint32_t claimed = fragment.first ? fragment.message_bytes : fragment.bytes;
    if (!held.translate(fragment.remote_key, pair.domain, fragment.remote_address, claimed,
                        IBV_ACCESS_REMOTE_WRITE, &address)) {
      fail(run, slot, Verdict::kRemoteAccess);
      return Verdict::kRemoteAccess;
    }
    target.add(address, fragment.bytes);
  }
  if (consumes && !take(run, pair)) {
    return Verdict::kReceiverNotReady;
  }
  if (!copy(run, data, target)) {
    return Verdict::kSilence;
  }
  pair.responder.received_bytes = fragment.offset + fragment.bytes;
  return consumes ? complete_receive(run, slot, fragment) : Verdict::kTaken;
}

}  // namespace

Verdict place(Run& run, uint32_t to, const Fragment& fragment, const Pieces& data) {
  return is_send(fragment.opcode) ? place_send(run, to, fragment, data)
                                  : place_write(run, to, fragment, data);
}

Verdict find_read_data(Run& run, uint32_t to, const Fragment& fragment, bool repeated,
                       HeldRegions& held, Pieces* data) {
  const QueuePair& pair = run.queue_pair(to);
  if (fragment.bytes == 0) {
    return Verdict::kTaken;
  }
  const bool may_read = (pair.attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  const uint32_t claimed = fragment.first ? fragment.message_bytes : fragment.bytes;
  uint64_t address = 0;
  if (may_read && held.translate(fragment.remote_key, pair.domain, fragment.remote_address, claimed,
                                 IBV_ACCESS_REMOTE_READ, &address)) {
    data->add(address, fragment.bytes);
    return Verdict::kTaken;
  }
  if (repeated) {
    return Verdict::kSilence;
  }
  const Verdict verdict = may_read ? Verdict::kRemoteAccess : Verdict::kRemoteInvalid;
  fail(run, to, verdict);
  return verdict;
}

void settle_responder(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  Responder& responder = pair.responder;
  settle_receive(receives_of(run, pair), responder);
  const Completion last = last_completion(run, pair.receive_queue);
  if (last.kind != Completion::Kind::kSend && last.status == IBV_WC_SUCCESS &&
      last.source == slot && last.queue_pair_number == pair.number &&
      last.psn == responder.expected_psn) {
    responder.receive_taken = false;
    responder.expected_psn = (responder.expected_psn + 1) & 0xffffff;
  }
  responder.nak_sent = false;
}

bool listens_to(const QueuePair& to, uint32_t to_number, const QueuePair& from) {
  const uint32_t state = to.state.load();
  const bool receives = state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
  return to.use.load() == Use::kLive && to.number == to_number && receives &&
         to.device == from.peer_device && to.peer_device == from.device &&
         to.attributes.dest_qp_num == from.number;
}

uint32_t queue_pair_slot(Run& run, uint32_t number) {
  const uint32_t slot = number & ((1U << kQueuePairSlotBits) - 1);
  const uint32_t high =
      std::min(run.header().queue_pair_table.high.load(std::memory_order_relaxed), kMostQueuePairs);
  if (slot >= high) {
    return kNone;
  }
  const QueuePair& pair = run.queue_pair(slot);
  return pair.use.load() == Use::kLive && pair.number == number ? slot : kNone;
}

}  // namespace rocelane::softverbs
