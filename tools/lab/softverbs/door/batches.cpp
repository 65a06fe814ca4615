// ibv_wr_*: work requests built call by call and posted together.

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "softverbs/door/objects.h"
#include "softverbs/engine/send_queue.h"

namespace rocelane::softverbs::door {

// Data given for inline sending are taken when they are given.
struct Batch {
  struct Request {
    ibv_send_wr request{};
    std::vector<ibv_sge> sges;
    std::vector<std::byte> inline_data;
  };
  std::deque<Request> requests;
  std::mutex mutex;  // held from start to complete or abort: threads take turns
};

namespace {

Batch::Request& add(ibv_qp_ex* pair, ibv_wr_opcode opcode) {
  Batch::Request& added = ours(pair)->batch->requests.emplace_back();
  added.request.wr_id = pair->wr_id;
  added.request.send_flags = pair->wr_flags;
  added.request.opcode = opcode;
  return added;
}

void add_rdma(ibv_qp_ex* pair, ibv_wr_opcode opcode, uint32_t key, uint64_t address,
              __be32 immediate) {
  ibv_send_wr& request = add(pair, opcode).request;
  request.wr.rdma.rkey = key;
  request.wr.rdma.remote_addr = address;
  request.imm_data = immediate;
}

Batch::Request& last(ibv_qp_ex* pair) { return ours(pair)->batch->requests.back(); }

void read(ibv_qp_ex* pair, uint32_t key, uint64_t address) {
  add_rdma(pair, IBV_WR_RDMA_READ, key, address, 0);
}
void write(ibv_qp_ex* pair, uint32_t key, uint64_t address) {
  add_rdma(pair, IBV_WR_RDMA_WRITE, key, address, 0);
}
void write_with_immediate(ibv_qp_ex* pair, uint32_t key, uint64_t address, __be32 immediate) {
  add_rdma(pair, IBV_WR_RDMA_WRITE_WITH_IMM, key, address, immediate);
}
void send(ibv_qp_ex* pair) { add(pair, IBV_WR_SEND); }
void send_with_immediate(ibv_qp_ex* pair, __be32 immediate) {
  add(pair, IBV_WR_SEND_WITH_IMM).request.imm_data = immediate;
}

void set_sge(ibv_qp_ex* pair, uint32_t key, uint64_t address, uint32_t bytes) {
  last(pair).sges = {{address, bytes, key}};
}
void set_sges(ibv_qp_ex* pair, size_t count, const ibv_sge* sges) {
  last(pair).sges.assign(sges, sges + count);
}

void set_inline_parts(ibv_qp_ex* pair, size_t count, const ibv_data_buf* parts) {
  Batch::Request& request = last(pair);
  request.request.send_flags |= IBV_SEND_INLINE;
  for (size_t i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const std::byte*>(parts[i].addr);
    request.inline_data.insert(request.inline_data.end(), bytes, bytes + parts[i].length);
  }
}
void set_inline(ibv_qp_ex* pair, void* address, size_t bytes) {
  const ibv_data_buf part{address, bytes};
  set_inline_parts(pair, 1, &part);
}

void start(ibv_qp_ex* pair) {
  ours(pair)->batch->mutex.lock();
  ours(pair)->batch->requests.clear();
}
void abort(ibv_qp_ex* pair) { ours(pair)->batch->mutex.unlock(); }

// A batch is posted as a whole or not at all.
int check(ibv_qp_ex* pair, const ibv_send_wr* first) {
  const QueuePair& shared = run().queue_pair(ours(pair)->slot);
  uint64_t taken = shared.posted.load() - shared.retired.load();
  for (; first != nullptr; first = first->next, ++taken) {
    SendView view;
    const int error = read_request(shared, *first, &view);
    if (error != 0 || taken >= shared.send_capacity) {
      return error != 0 ? error : ENOMEM;
    }
  }
  return 0;
}

int complete(ibv_qp_ex* pair) {
  Batch& batch = *ours(pair)->batch;
  const std::lock_guard held(batch.mutex, std::adopt_lock);
  auto& requests = batch.requests;
  ibv_send_wr* next = nullptr;
  for (auto built = requests.rbegin(); built != requests.rend(); ++built) {
    if ((built->request.send_flags & IBV_SEND_INLINE) != 0) {
      built->sges = {{reinterpret_cast<uint64_t>(built->inline_data.data()),
                      static_cast<uint32_t>(built->inline_data.size()), 0}};
    }
    built->request.sg_list = built->sges.data();
    built->request.num_sge = static_cast<int>(built->sges.size());
    built->request.next = next;
    next = &built->request;
  }
  ibv_send_wr* bad = nullptr;
  int error = check(pair, next);
  if (error == 0 && next != nullptr) {
    error = post_send(&pair->qp_base, next, &bad);
  }
  return error;
}

}  // namespace

void fill_batch_functions(QueuePairObject* object) {
  object->batch = new Batch;
  ibv_qp_ex& pair = object->pair;
  pair.wr_rdma_read = read;
  pair.wr_rdma_write = write;
  pair.wr_rdma_write_imm = write_with_immediate;
  pair.wr_send = send;
  pair.wr_send_imm = send_with_immediate;
  pair.wr_set_sge = set_sge;
  pair.wr_set_sge_list = set_sges;
  pair.wr_set_inline_data = set_inline;
  pair.wr_set_inline_data_list = set_inline_parts;
  pair.wr_start = start;
  pair.wr_complete = complete;
  pair.wr_abort = abort;
}

void free_batch(QueuePairObject* object) { delete object->batch; }

void fill_operations(verbs_context* context) {
  context->sz = sizeof(verbs_context);
  context->query_port = query_port;
  context->query_device_ex = query_device_extended;
  context->create_cq_ex = create_queue_extended;
  context->create_qp_ex = create_pair_extended;
  context->create_srq_ex = create_shared_extended;
  ibv_context_ops& operations = context->context.ops;
  operations.poll_cq = poll_queue;
  operations.req_notify_cq = request_notification;
  operations.post_send = post_send;
  operations.post_recv = post_receive;
  operations.post_srq_recv = post_shared_receive;
}

}  // namespace rocelane::softverbs::door
