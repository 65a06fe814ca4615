// Queue pairs, shared receive queues, and posting to them.

#include "softverbs/engine/queue_pairs.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "softverbs/door/objects.h"
#include "softverbs/engine/direct.h"
#include "softverbs/engine/receive_queues.h"
#include "softverbs/engine/send_queue.h"
#include "softverbs/timed/timed.h"

namespace rocelane::softverbs::door {
namespace {

QueuePairObject* make_pair(ibv_pd* domain, const ibv_qp_init_attr& wishes) {
  ibv_context* context = domain->context;
  if (has_failed(context)) {
    errno = EIO;
    return nullptr;
  }
  if (wishes.qp_type != IBV_QPT_RC) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (wishes.send_cq == nullptr || wishes.recv_cq == nullptr ||
      wishes.send_cq->context != context || wishes.recv_cq->context != context ||
      (wishes.srq != nullptr && wishes.srq->pd != domain)) {
    errno = EINVAL;
    return nullptr;
  }
  QueuePairWishes inner;
  inner.context = ours(context)->slot;
  inner.domain = ours(domain)->slot;
  inner.send_queue = ours(wishes.send_cq)->slot;
  inner.receive_queue = ours(wishes.recv_cq)->slot;
  inner.shared_receive_queue = wishes.srq == nullptr ? kNone : ours(wishes.srq)->slot;
  inner.signal_all = wishes.sq_sig_all != 0;
  inner.limits = wishes.cap;
  if (wishes.srq != nullptr) {
    inner.limits.max_recv_wr = 0;
    inner.limits.max_recv_sge = 0;
  }
  const uint32_t slot = create_queue_pair(run(), inner);
  if (slot == kNone) {
    return nullptr;
  }
  auto* object = static_cast<QueuePairObject*>(calloc(1, sizeof(QueuePairObject)));
  object->slot = slot;
  object->created = wishes;
  object->created.cap = inner.limits;
  ibv_qp& pair = object->pair.qp_base;
  pair.context = context;
  pair.qp_context = wishes.qp_context;
  pair.pd = domain;
  pair.send_cq = wishes.send_cq;
  pair.recv_cq = wishes.recv_cq;
  pair.srq = wishes.srq;
  pair.handle = slot;
  pair.qp_num = run().queue_pair(slot).number;
  pair.state = IBV_QPS_RESET;
  pair.qp_type = IBV_QPT_RC;
  pthread_mutex_init(&pair.mutex, nullptr);
  pthread_cond_init(&pair.cond, nullptr);
  run().queue_pair(slot).cookie = reinterpret_cast<uint64_t>(object);
  return object;
}

// Posts a list to a queue; `posted` is called after each.
template <class Posted>
int post_receives(ReceiveQueue& queue, ibv_recv_wr* first, ibv_recv_wr** bad, Posted posted) {
  for (ibv_recv_wr* request = first; request != nullptr; request = request->next) {
    if (const int error = append_receive(run(), queue, *request)) {
      *bad = request;
      return error;
    }
    posted();
  }
  return 0;
}

ibv_srq* make_shared(ibv_pd* domain, void* user, ibv_srq_attr* wishes) {
  const DeviceLimits& limits = description_of(*ours(domain->context)).limits;
  if (wishes->max_wr == 0 || wishes->max_wr > limits.work_requests ||
      wishes->max_sge > limits.scatter_gather_entries) {
    errno = EINVAL;
    return nullptr;
  }
  auto* object = static_cast<SharedReceiveObject*>(calloc(1, sizeof(SharedReceiveObject)));
  object->max_sge = wishes->max_sge;
  object->slot = create_shared_receive_queue(run(), ours(domain->context)->slot, ours(domain)->slot,
                                             wishes->max_wr, wishes->max_sge,
                                             reinterpret_cast<uint64_t>(object));
  if (object->slot == kNone) {
    free(object);
    return nullptr;
  }
  ibv_srq& queue = object->queue;
  queue.context = domain->context;
  queue.srq_context = user;
  queue.pd = domain;
  queue.handle = object->slot;
  pthread_mutex_init(&queue.mutex, nullptr);
  pthread_cond_init(&queue.cond, nullptr);
  return &queue;
}

}  // namespace

int post_send(ibv_qp* pair, ibv_send_wr* first, ibv_send_wr** bad) {
  Run& current = run();
  const uint32_t slot = ours(pair)->slot;
  return current.timed() ? timed::post_send(current, slot, first, bad)
                         : direct::post_send(current, slot, first, bad);
}

int post_receive(ibv_qp* pair, ibv_recv_wr* first, ibv_recv_wr** bad) {
  Run& current = run();
  QueuePairObject* object = ours(pair);
  QueuePair& shared = current.queue_pair(object->slot);
  if (shared.shared_receive_queue != kNone || shared.state.load() == IBV_QPS_RESET) {
    *bad = first;
    return EINVAL;
  }
  shared.counters.receive_posts.add(1);
  const int error =
      post_receives(shared.receives, first, bad, [&shared] { shared.counters.receives.add(1); });
  if (shared.state.load() == IBV_QPS_ERR) {
    const auto fabric = timed::lock(current);
    flush(current, object->slot);
  } else if (!current.timed()) {
    direct::receive_posted(current, object->slot);
  }
  return error;
}

int post_shared_receive(ibv_srq* queue, ibv_recv_wr* first, ibv_recv_wr** bad) {
  Run& current = run();
  const uint32_t slot = ours(queue)->slot;
  SharedReceiveQueue& shared = current.shared_receive_queue(slot);
  const int error = post_receives(shared.queue, first, bad, [] {});
  if (!current.timed()) {
    direct::shared_receive_posted(current, slot);
  }
  return error;
}

ibv_qp* create_pair_extended(ibv_context* /*context*/, ibv_qp_init_attr_ex* wishes) {
  constexpr uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  constexpr uint64_t kKnownOperations = IBV_QP_EX_WITH_RDMA_WRITE |
                                        IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
                                        IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ;
  const bool with_operations = (wishes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if ((wishes->comp_mask & ~kKnown) != 0 ||
      (with_operations && (wishes->send_ops_flags & ~kKnownOperations) != 0)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if ((wishes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) {
    errno = EINVAL;
    return nullptr;
  }
  ibv_qp_init_attr plain{};
  plain.qp_context = wishes->qp_context;
  plain.send_cq = wishes->send_cq;
  plain.recv_cq = wishes->recv_cq;
  plain.srq = wishes->srq;
  plain.cap = wishes->cap;
  plain.qp_type = wishes->qp_type;
  plain.sq_sig_all = wishes->sq_sig_all;
  QueuePairObject* object = make_pair(wishes->pd, plain);
  if (object == nullptr) {
    return nullptr;
  }
  wishes->cap = object->created.cap;
  if (with_operations) {
    fill_batch_functions(object);
  }
  return &object->pair.qp_base;
}

ibv_srq* create_shared_extended(ibv_context* /*context*/, ibv_srq_init_attr_ex* wishes) {
  const bool basic =
      (wishes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || wishes->srq_type == IBV_SRQT_BASIC;
  if (!basic || (wishes->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return make_shared(wishes->pd, wishes->srq_context, &wishes->attr);
}

}  // namespace rocelane::softverbs::door

using namespace rocelane::softverbs;
using namespace rocelane::softverbs::door;

SOFTVERBS_API ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wishes) {
  QueuePairObject* object = make_pair(domain, *wishes);
  if (object == nullptr) {
    return nullptr;
  }
  wishes->cap = object->created.cap;
  return &object->pair.qp_base;
}

SOFTVERBS_API ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* pair) {
  return ours(pair)->batch == nullptr ? nullptr : &ours(pair)->pair;
}

SOFTVERBS_API int ibv_modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  if (has_failed(pair->context)) {
    return EIO;
  }
  const int error = modify_queue_pair(run(), ours(pair)->slot, *attributes, mask);
  if (error == 0 && (mask & IBV_QP_STATE) != 0) {
    pair->state = attributes->qp_state;
  }
  return error;
}

SOFTVERBS_API int ibv_query_qp(ibv_qp* pair, ibv_qp_attr* attributes, int /*mask*/,
                               ibv_qp_init_attr* created) {
  if (has_failed(pair->context)) {
    return EIO;
  }
  QueuePairObject* object = ours(pair);
  QueuePair& shared = run().queue_pair(object->slot);
  const std::lock_guard lock(shared.send_mutex);
  *attributes = shared.attributes;
  attributes->qp_state = static_cast<ibv_qp_state>(shared.state.load());
  attributes->cur_qp_state = attributes->qp_state;
  attributes->cap = object->created.cap;
  attributes->sq_draining = attributes->qp_state == IBV_QPS_SQD && shared.pending.load() ? 1 : 0;
  pair->state = attributes->qp_state;
  if (created != nullptr) {
    *created = object->created;
  }
  return 0;
}

SOFTVERBS_API int ibv_query_qp_data_in_order(ibv_qp* /*pair*/, ibv_wr_opcode /*operation*/,
                                             uint32_t /*flags*/) {
  return 0;
}

SOFTVERBS_API int ibv_destroy_qp(ibv_qp* pair) {
  QueuePairObject* object = ours(pair);
  destroy_queue_pair(run(), object->slot);
  wait_for_acknowledgements(pair);
  pthread_mutex_destroy(&pair->mutex);
  pthread_cond_destroy(&pair->cond);
  free_batch(object);
  free(object);
  return 0;
}

SOFTVERBS_API int ibv_query_ece(ibv_qp* /*pair*/, ibv_ece* options) {
  *options = {};
  return EOPNOTSUPP;
}

SOFTVERBS_API int ibv_set_ece(ibv_qp* /*pair*/, ibv_ece* /*options*/) { return EOPNOTSUPP; }

SOFTVERBS_API ibv_srq* ibv_create_srq(ibv_pd* domain, ibv_srq_init_attr* wishes) {
  return make_shared(domain, wishes->srq_context, &wishes->attr);
}

SOFTVERBS_API int ibv_modify_srq(ibv_srq* queue, ibv_srq_attr* attributes, int mask) {
  SharedReceiveQueue& shared = run().shared_receive_queue(ours(queue)->slot);
  if ((mask & IBV_SRQ_MAX_WR) != 0) {
    return EOPNOTSUPP;
  }
  if ((mask & IBV_SRQ_LIMIT) != 0) {
    if (attributes->srq_limit > shared.queue.capacity) {
      return EINVAL;
    }
    shared.limit.store(attributes->srq_limit);
  }
  return 0;
}

SOFTVERBS_API int ibv_query_srq(ibv_srq* queue, ibv_srq_attr* attributes) {
  const SharedReceiveQueue& shared = run().shared_receive_queue(ours(queue)->slot);
  attributes->max_wr = shared.queue.capacity;
  attributes->max_sge = shared.queue.max_sge;
  attributes->srq_limit = shared.limit.load();
  return 0;
}

SOFTVERBS_API int ibv_destroy_srq(ibv_srq* queue) {
  SharedReceiveObject* object = ours(queue);
  if (run().shared_receive_queue(object->slot).users.load() != 0) {
    return EBUSY;
  }
  destroy_shared_receive_queue(run(), object->slot);
  wait_for_acknowledgements(queue);
  pthread_mutex_destroy(&queue->mutex);
  pthread_cond_destroy(&queue->cond);
  free(object);
  return 0;
}
