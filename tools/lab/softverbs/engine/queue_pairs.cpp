#include "softverbs/engine/queue_pairs.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "softverbs/engine/addresses.h"
#include "softverbs/engine/async_events.h"
#include "softverbs/engine/completions.h"
#include "softverbs/engine/direct.h"
#include "softverbs/engine/memory.h"
#include "softverbs/engine/receive_queues.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/engine/state_machine.h"
#include "softverbs/fabric/udp_source_port.h"
#include "softverbs/timed/timed.h"

namespace rocelane::softverbs {
namespace {

constexpr uint32_t kNumberMask = 0xffffff;

bool fits(const ibv_qp_cap& wishes, const DeviceLimits& limits) {
  return wishes.max_send_wr <= limits.work_requests && wishes.max_recv_wr <= limits.work_requests &&
         wishes.max_send_sge <= limits.scatter_gather_entries &&
         wishes.max_recv_sge <= limits.scatter_gather_entries &&
         wishes.max_inline_data <= limits.inline_bytes;
}

uint8_t lag_port(Run& run, uint32_t device_number) {
  const uint8_t ports = run.description().devices[device_number].lag_ports;
  if (ports <= 1) {
    return 0;
  }
  const uint32_t turn = run.device(device_number).lag_turn.fetch_add(1);
  return static_cast<uint8_t>(run.description().fabric.lag_choice == LagChoice::kCreationOrder
                                  ? turn % ports
                                  : mixed(run.description().seed, device_number, turn) % ports);
}

void count_users(Run& run, const QueuePair& pair, int change) {
  const auto by = static_cast<uint32_t>(change);
  run.domain(pair.domain).users.fetch_add(by);
  run.completion_queue(pair.send_queue).users.fetch_add(by);
  run.completion_queue(pair.receive_queue).users.fetch_add(by);
  if (pair.shared_receive_queue != kNone) {
    run.shared_receive_queue(pair.shared_receive_queue).users.fetch_add(by);
  }
}

void add(QueuePairCounters& sum, const QueuePairCounters& part) {
  sum.sends.add(part.sends.get());
  sum.writes.add(part.writes.get());
  sum.writes_with_immediate.add(part.writes_with_immediate.get());
  sum.reads.add(part.reads.get());
  sum.send_posts.add(part.send_posts.get());
  sum.receives.add(part.receives.get());
  sum.receive_posts.add(part.receive_posts.get());
  sum.inline_bytes.add(part.inline_bytes.get());
  sum.sent_bytes.add(part.sent_bytes.get());
  sum.completions.add(part.completions.get());
  sum.retransmissions.add(part.retransmissions.get());
}

// For the counters of the run, once the queue pair is gone.
void write_down(Run& run, const QueuePair& pair) {
  if (pair.attributes.dest_qp_num == 0) {
    return;
  }
  Journal& journal = run.header().journal;
  const uint64_t place = journal.written.fetch_add(1);
  if (place >= kMostRecords ||
      !run.back_table(journal.backed, journal.records.value, static_cast<uint32_t>(place) + 1,
                      kMostRecords, sizeof(QueuePairRecord))) {
    return;
  }
  QueuePairRecord& record = run.at(journal.records)[place];
  record.peer_device = pair.peer_device;
  record.number = pair.number;
  record.peer_number = pair.attributes.dest_qp_num;
  record.udp_source_port = pair.udp_source_port;
  record.traffic_class = pair.attributes.ah_attr.grh.traffic_class;
  record.path = pair.requester.has_path ? pair.requester.path : Path{};
  add(record.counters, pair.counters);
  record.device = pair.device;
}

// Empty queues and a fresh state, as after creation. The caller holds both mutexes.
void reset(Run& run, QueuePair& pair, uint32_t slot) {
  forget_completions(run, pair.send_queue, slot);
  if (pair.receive_queue != pair.send_queue) {
    forget_completions(run, pair.receive_queue, slot);
  }
  if (pair.responder.receive_taken && pair.shared_receive_queue != kNone) {
    // The receive is lost with half a message in it; its place is free.
    run.shared_receive_queue(pair.shared_receive_queue).queue.retired.fetch_add(1);
  }
  pair.posted.store(0);
  pair.completed.store(0);
  pair.retired.store(0);
  pair.pending.store(false);
  pair.receives.posted.store(0);
  pair.receives.taken.store(0);
  pair.receives.retired.store(0);
  pair.receive_awaited.store(false);
  pair.requester = {};
  pair.responder = {};
  pair.attributes = {};
  pair.attributes.path_mtu = IBV_MTU_1024;
}

void set_initial(QueuePair& pair, const ibv_qp_attr& attributes, int mask) {
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
    pair.attributes.qp_access_flags = attributes.qp_access_flags;
  }
  if ((mask & IBV_QP_PKEY_INDEX) != 0) {
    pair.attributes.pkey_index = attributes.pkey_index;
  }
  if ((mask & IBV_QP_PORT) != 0) {
    pair.attributes.port_num = attributes.port_num;
  }
}

void set_others(QueuePair& pair, const ibv_qp_attr& attributes, int mask) {
  ibv_qp_attr& mine = pair.attributes;
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  if (given(IBV_QP_PATH_MTU)) {
    mine.path_mtu = attributes.path_mtu;
  }
  if (given(IBV_QP_DEST_QPN)) {
    mine.dest_qp_num = attributes.dest_qp_num & kNumberMask;
  }
  if (given(IBV_QP_RQ_PSN)) {
    mine.rq_psn = attributes.rq_psn & kNumberMask;
    pair.responder.expected_psn = mine.rq_psn;
  }
  if (given(IBV_QP_MAX_DEST_RD_ATOMIC)) {
    mine.max_dest_rd_atomic = attributes.max_dest_rd_atomic;
  }
  if (given(IBV_QP_MIN_RNR_TIMER)) {
    mine.min_rnr_timer = attributes.min_rnr_timer;
  }
  if (given(IBV_QP_TIMEOUT)) {
    mine.timeout = attributes.timeout;
  }
  if (given(IBV_QP_RETRY_CNT)) {
    mine.retry_cnt = attributes.retry_cnt;
    pair.requester.retries_left = mine.retry_cnt;
  }
  if (given(IBV_QP_RNR_RETRY)) {
    mine.rnr_retry = attributes.rnr_retry;
    pair.requester.rnr_retries_left = mine.rnr_retry;
  }
  if (given(IBV_QP_SQ_PSN)) {
    mine.sq_psn = attributes.sq_psn & kNumberMask;
    pair.requester.next_psn = mine.sq_psn;
    pair.requester.cursor_psn = mine.sq_psn;
    pair.requester.acknowledged_psn = mine.sq_psn;
    pair.requester.sent_psn = mine.sq_psn;
  }
  if (given(IBV_QP_MAX_QP_RD_ATOMIC)) {
    mine.max_rd_atomic = attributes.max_rd_atomic;
  }
}

bool is_valid(const QueuePair& pair, const Run& run, const ibv_qp_attr& attributes, int mask) {
  const DeviceDescription& device = run.description().devices[pair.device];
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  return (!given(IBV_QP_PORT) || attributes.port_num == 1) &&
         (!given(IBV_QP_PKEY_INDEX) || attributes.pkey_index == 0) &&
         (!given(IBV_QP_PATH_MTU) ||
          (attributes.path_mtu >= IBV_MTU_256 && attributes.path_mtu <= IBV_MTU_4096 &&
           (128U << attributes.path_mtu) <= device.mtu_bytes)) &&
         (!given(IBV_QP_MIN_RNR_TIMER) || attributes.min_rnr_timer <= 31) &&
         (!given(IBV_QP_TIMEOUT) || attributes.timeout <= 31) &&
         (!given(IBV_QP_RETRY_CNT) || attributes.retry_cnt <= 7) &&
         (!given(IBV_QP_RNR_RETRY) || attributes.rnr_retry <= 7) &&
         (!given(IBV_QP_MAX_QP_RD_ATOMIC) ||
          attributes.max_rd_atomic <= device.limits.outstanding_reads) &&
         (!given(IBV_QP_MAX_DEST_RD_ATOMIC) ||
          attributes.max_dest_rd_atomic <= device.limits.outstanding_reads);
}

// Where packets go, and through which port they leave. The caller holds both mutexes.
void set_address(QueuePair& pair, const ibv_qp_attr& attributes, const Destination& destination) {
  pair.attributes.ah_attr = attributes.ah_attr;
  pair.attributes.ah_attr.port_num = 1;
  pair.peer_device = destination.device;
  pair.local_gid = destination.local_gid;
  pair.roce_v2 = destination.roce_v2;
  pair.udp_source_port =
      udp_source_port(attributes.ah_attr.grh.flow_label, pair.number, pair.attributes.dest_qp_num);
  pair.requester.has_path = false;
}

// Says when nothing is under way any more; of a direct run that is now.
void drain(Run& run, uint32_t slot) {
  if (run.timed()) {
    timed::resume(run, slot);
  } else if (run.queue_pair(slot).attributes.en_sqd_async_notify != 0) {
    raise_queue_pair_event(run, slot, IBV_EVENT_SQ_DRAINED);
  }
}

}  // namespace

uint32_t create_queue_pair(Run& run, const QueuePairWishes& wishes) {
  const uint32_t device_number = run.context(wishes.context).device;
  const DeviceLimits& limits = run.description().devices[device_number].limits;
  if (!fits(wishes.limits, limits)) {
    errno = EINVAL;
    return kNone;
  }
  DeviceCounters& counters = run.device(device_number).counters;
  const bool allowed = counters.live_queue_pairs.fetch_add(1) < limits.queue_pairs;
  const uint32_t slot =
      allowed ? run.claim(run.header().queue_pair_table, run.header().queue_pairs, kMostQueuePairs)
              : kNone;
  const bool shared = wishes.shared_receive_queue != kNone;
  if (slot == kNone ||
      !make_receive_queue(run, run.queue_pair(slot).receives,
                          shared ? 0 : wishes.limits.max_recv_wr, wishes.limits.max_recv_sge)) {
    if (slot != kNone) {
      release_slot(run.header().queue_pair_table, run.at(run.header().queue_pairs), slot);
    }
    counters.live_queue_pairs.fetch_sub(1);
    errno = ENOMEM;
    return kNone;
  }
  QueuePair& pair = run.queue_pair(slot);
  pair.send_mutex.initialise();
  pair.responder_mutex.initialise();
  const uint32_t generation = pair.generation.fetch_add(1) + 1;
  pair.number = ((generation << kQueuePairSlotBits) | slot) & kNumberMask;
  pair.process = run.process();
  pair.context = wishes.context;
  pair.device = device_number;
  pair.domain = wishes.domain;
  pair.send_queue = wishes.send_queue;
  pair.receive_queue = wishes.receive_queue;
  pair.shared_receive_queue = wishes.shared_receive_queue;
  pair.inline_limit = wishes.limits.max_inline_data;
  pair.max_send_sge = wishes.limits.max_send_sge;
  pair.message_limit = limits.message_bytes;
  pair.signal_all = wishes.signal_all;
  pair.send_capacity = wishes.limits.max_send_wr;
  pair.send_ring = {};
  pair.lag_port = lag_port(run, device_number);
  pair.counters.~QueuePairCounters();
  new (&pair.counters) QueuePairCounters();
  {
    const std::scoped_lock locks(pair.send_mutex, pair.responder_mutex);
    reset(run, pair, slot);
  }
  pair.state.store(IBV_QPS_RESET);
  count_users(run, pair, 1);
  pair.use.store(Use::kLive);
  return slot;
}

void destroy_queue_pair(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  {
    const auto fabric = timed::lock(run);
    const std::scoped_lock locks(pair.send_mutex, pair.responder_mutex);
    pair.use.store(Use::kClaimed);
    pair.state.store(IBV_QPS_RESET);
    write_down(run, pair);
    if (run.timed()) {
      timed::forget(run, slot);
    }
    reset(run, pair, slot);
  }
  if (pair.send_ring) {
    run.release(pair.send_ring, send_ring_bytes(pair));
    pair.send_ring = {};
  }
  unmake_receive_queue(run, pair.receives);
  count_users(run, pair, -1);
  DeviceCounters& counters = run.device(pair.device).counters;
  add(counters.destroyed_queue_pairs, pair.counters);
  counters.live_queue_pairs.fetch_sub(1);
  release_slot(run.header().queue_pair_table, run.at(run.header().queue_pairs), slot);
}

int modify_queue_pair(Run& run, uint32_t slot, const ibv_qp_attr& attributes, int mask) {
  QueuePair& pair = run.queue_pair(slot);
  const auto from = static_cast<ibv_qp_state>(pair.state.load());
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes.qp_state : from;
  if (((mask & IBV_QP_CUR_STATE) != 0 && attributes.cur_qp_state != from) ||
      !may_change_state(from, to, mask) || !is_valid(pair, run, attributes, mask)) {
    return EINVAL;
  }
  Destination destination;
  if ((mask & IBV_QP_AV) != 0) {
    if (const int error = find_destination(run, pair.device, attributes.ah_attr, &destination)) {
      return error;
    }
  }
  {
    const auto fabric = timed::lock(run);
    const std::scoped_lock locks(pair.send_mutex, pair.responder_mutex);
    // The peer may have brought it into error in the meantime.
    const auto now = static_cast<ibv_qp_state>(pair.state.load());
    if (now != from && !((mask & IBV_QP_STATE) != 0 && may_change_state(now, to, mask))) {
      return EINVAL;
    }
    if (to == IBV_QPS_RESET) {
      if (run.timed()) {
        timed::forget(run, slot);
      }
      reset(run, pair, slot);
    }
    set_initial(pair, attributes, mask);
    set_others(pair, attributes, mask);
    if ((mask & IBV_QP_AV) != 0) {
      set_address(pair, attributes, destination);
    }
    if (to == IBV_QPS_SQD && from == IBV_QPS_RTS) {
      pair.attributes.en_sqd_async_notify =
          (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 ? attributes.en_sqd_async_notify : 0;
    } else if (to == IBV_QPS_RTS) {
      pair.requester.sends_drained = false;
    }
    pair.state.store(to);
  }
  if (to == IBV_QPS_ERR) {
    const auto fabric = timed::lock(run);
    flush(run, slot);
  } else if (to == IBV_QPS_SQD && from == IBV_QPS_RTS) {
    drain(run, slot);
  } else if (to == IBV_QPS_RTS) {
    run.timed() ? timed::resume(run, slot) : direct::progress(run, slot);
  } else if (to == IBV_QPS_RTR && !run.timed()) {
    direct::receiver_ready(run, slot);
  }
  return 0;
}

}  // namespace rocelane::softverbs
