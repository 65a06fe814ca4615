#include "softverbs/engine/send_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "softverbs/engine/async_events.h"
#include "softverbs/engine/completions.h"
#include "softverbs/engine/receive_queues.h"

namespace rocelane::softverbs {
namespace {

constexpr uint32_t kFlushVendorError = 0xf5;

uint64_t entry_bytes(const QueuePair& pair) {
  constexpr uint64_t kAlignment = 16;
  const uint64_t tail = std::max<uint64_t>(pair.max_send_sge * sizeof(ibv_sge), pair.inline_limit);
  return sizeof(SendEntry) + (tail + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_known(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE ||
         opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_RDMA_READ;
}

bool is_rdma(uint32_t opcode) {
  return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
         opcode == IBV_WR_RDMA_READ;
}

uint32_t completion_opcode(uint32_t opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    default:
      return IBV_WC_SEND;
  }
}

Completion flushed(const QueuePair& pair, uint32_t slot, uint64_t wr_id) {
  Completion completion{};
  completion.wr_id = wr_id;
  completion.status = IBV_WC_WR_FLUSH_ERR;
  completion.opcode = IBV_WC_RECV;
  completion.vendor_error = kFlushVendorError;
  completion.queue_pair_number = pair.number;
  completion.source = slot;
  completion.kind = pair.shared_receive_queue == kNone ? Completion::Kind::kReceive
                                                       : Completion::Kind::kSharedReceive;
  return completion;
}

void flush_sends(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  const std::lock_guard lock(pair.send_mutex);
  if (pair.state.load() != IBV_QPS_ERR) {
    return;
  }
  const uint64_t posted = pair.posted.load();
  for (uint64_t index = pair.completed.load(); index < posted; ++index) {
    finish(run, slot, index, entry_at(run, pair, index), IBV_WC_WR_FLUSH_ERR, kFlushVendorError);
  }
  pair.pending.store(false);
}

void flush_receives(Run& run, uint32_t slot) {
  QueuePair& pair = run.queue_pair(slot);
  const std::lock_guard lock(pair.responder_mutex);
  if (pair.state.load() != IBV_QPS_ERR) {
    return;
  }
  if (pair.responder.receive_taken) {
    pair.responder.receive_taken = false;
    push_completion(run, pair.receive_queue, flushed(pair, slot, pair.responder.receive.wr_id));
  }
  if (pair.shared_receive_queue != kNone) {
    if (!pair.responder.end_reported) {
      pair.responder.end_reported = true;
      raise_queue_pair_event(run, slot, IBV_EVENT_QP_LAST_WQE_REACHED);
    }
    return;
  }
  while (take_receive(run, pair.receives, pair.responder)) {
    pair.responder.receive_taken = false;
    push_completion(run, pair.receive_queue, flushed(pair, slot, pair.responder.receive.wr_id));
  }
}

}  // namespace

int read_request(const QueuePair& pair, const ibv_send_wr& request, SendView* view) {
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  const bool reads = request.opcode == IBV_WR_RDMA_READ;
  if (!is_known(request.opcode) || request.num_sge < 0 ||
      (!is_inline && static_cast<uint32_t>(request.num_sge) > pair.max_send_sge) ||
      request.num_sge > kMostSges || (is_inline && reads)) {
    return EINVAL;
  }
  uint64_t bytes = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    bytes += request.sg_list[i].length;
  }
  if (bytes > pair.message_limit || (is_inline && bytes > pair.inline_limit)) {
    return EINVAL;
  }
  if (pair.posted.load(std::memory_order_relaxed) - pair.retired.load() >= pair.send_capacity) {
    return ENOMEM;
  }
  SendEntry& entry = view->entry;
  entry.wr_id = request.wr_id;
  entry.opcode = request.opcode;
  if (is_rdma(request.opcode)) {
    entry.remote_address = request.wr.rdma.remote_addr;
    entry.remote_key = request.wr.rdma.rkey;
  }
  entry.immediate = request.imm_data;
  entry.bytes = static_cast<uint32_t>(bytes);
  entry.sge_count = static_cast<uint32_t>(request.num_sge);
  entry.signalled = pair.signal_all || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  entry.is_inline = is_inline;
  entry.fenced = (request.send_flags & IBV_SEND_FENCE) != 0;
  entry.fault = kNone;
  view->sges = request.sg_list;
  return 0;
}

void count_request(Run& run, QueuePair& pair, const SendView& view) {
  QueuePairCounters& counters = pair.counters;
  switch (view.entry.opcode) {
    case IBV_WR_RDMA_WRITE:
      counters.writes.add(1);
      break;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      counters.writes_with_immediate.add(1);
      break;
    case IBV_WR_RDMA_READ:
      counters.reads.add(1);
      break;
    default:
      counters.sends.add(1);
      break;
  }
  if (view.entry.is_inline) {
    counters.inline_bytes.add(view.entry.bytes);
  }
  counters.sent_bytes.add(view.entry.bytes);
  run.device(pair.device)
      .counters.sent_bytes_by_traffic_class[pair.attributes.ah_attr.grh.traffic_class]
      .add(view.entry.bytes);
}

uint64_t send_ring_bytes(const QueuePair& pair) { return pair.send_capacity * entry_bytes(pair); }

bool enqueue(Run& run, QueuePair& pair, const SendView& view) {
  if (!pair.send_ring) {
    pair.send_ring = run.allocate<SendEntry>(send_ring_bytes(pair));
    if (!pair.send_ring) {
      return false;
    }
  }
  const uint64_t index = pair.posted.load(std::memory_order_relaxed);
  SendEntry& entry = entry_at(run, pair, index);
  entry = view.entry;
  auto* tail = reinterpret_cast<std::byte*>(&entry + 1);
  if (entry.is_inline) {
    for (uint32_t i = 0; i < entry.sge_count; ++i) {
      const ibv_sge& sge = view.sges[i];
      if (sge.length > 0) {
        std::memcpy(tail, reinterpret_cast<const void*>(sge.addr), sge.length);
      }
      tail += sge.length;
    }
    entry.sge_count = 0;
  } else {
    std::copy_n(view.sges, entry.sge_count, reinterpret_cast<ibv_sge*>(tail));
  }
  pair.posted.store(index + 1);
  pair.pending.store(true);
  return true;
}

SendEntry& entry_at(Run& run, QueuePair& pair, uint64_t index) {
  auto* ring = reinterpret_cast<std::byte*>(run.at(pair.send_ring));
  return *reinterpret_cast<SendEntry*>(ring + (index % pair.send_capacity) * entry_bytes(pair));
}

SendView view_at(Run& run, QueuePair& pair, uint64_t index) {
  SendEntry& entry = entry_at(run, pair, index);
  return {entry, reinterpret_cast<const ibv_sge*>(&entry + 1)};
}

bool find_payload(const QueuePair& pair, const SendView& view, HeldRegions& held, Pieces* pieces) {
  const SendEntry& entry = view.entry;
  if (!entry.is_inline) {
    const uint32_t access = entry.opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
    return find_local(pair.domain, view.sges, entry.sge_count, access, held, pieces);
  }
  if (entry.sge_count == 0) {  // copied behind the entry
    pieces->add(reinterpret_cast<uint64_t>(view.sges), entry.bytes);
  }
  for (uint32_t i = 0; i < entry.sge_count; ++i) {
    pieces->add(view.sges[i].addr, view.sges[i].length);
  }
  return true;
}

bool finish(Run& run, uint32_t slot, uint64_t index, const SendEntry& entry, uint32_t status,
            uint32_t vendor_error) {
  QueuePair& pair = run.queue_pair(slot);
  if (status != IBV_WC_SUCCESS) {
    pair.state.store(IBV_QPS_ERR);
  }
  if (!entry.signalled && status == IBV_WC_SUCCESS) {
    pair.completed.store(index + 1);
    return true;
  }
  Completion completion{};
  completion.wr_id = entry.wr_id;
  completion.status = status;
  completion.opcode = completion_opcode(entry.opcode);
  completion.vendor_error = vendor_error;
  completion.bytes = entry.bytes;
  completion.queue_pair_number = pair.number;
  completion.source = slot;
  completion.send_index = index;
  completion.kind = Completion::Kind::kSend;
  const bool pushed = push_completion(run, pair.send_queue, completion);
  if (!pushed) {
    pair.state.store(IBV_QPS_ERR);
  }
  // Last: if this process is killed in between, the completion tells that this was done.
  pair.completed.store(index + 1);
  return pushed && status == IBV_WC_SUCCESS;
}

void flush(Run& run, uint32_t slot) {
  flush_sends(run, slot);
  flush_receives(run, slot);
}

}  // namespace rocelane::softverbs
