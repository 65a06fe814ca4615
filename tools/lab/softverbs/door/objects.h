#pragma once

// The objects that programs hold: libibverbs' structs with what we know about them. Each begins
// with the libibverbs struct, except the context, which ends with it.

#include <cstdint>

#include <infiniband/verbs.h>

#include "softverbs/segment/run.h"

namespace rocelane::softverbs::door {

struct DeviceObject {
  ibv_device device;
  uint32_t number;
};

struct ContextObject {
  uint32_t slot;
  uint32_t device;
  verbs_context extended;
};

struct DomainObject {
  ibv_pd domain;
  uint32_t slot;
};

struct RegionObject {
  ibv_mr region;
  void* mapping;  // of a dma-buf
  size_t mapped_bytes;
};

struct ChannelObject {
  ibv_comp_channel channel;
  uint32_t slot;
};

struct CompletionQueueObject {
  ibv_cq_ex queue;  // an ibv_cq is its beginning
  uint32_t slot;
  ibv_wc current;  // of the extended interface
};

struct SharedReceiveObject {
  ibv_srq queue;
  uint32_t slot;
  uint32_t max_sge;
};

// What ibv_wr_* collects between start and complete.
struct Batch;

struct QueuePairObject {
  ibv_qp_ex pair;  // an ibv_qp is its beginning
  uint32_t slot;
  ibv_qp_init_attr created;
  Batch* batch;
};

inline Run& run() { return *Run::joined(); }

inline DeviceObject* ours(ibv_device* device) { return reinterpret_cast<DeviceObject*>(device); }
ContextObject* ours(ibv_context* context);
inline DomainObject* ours(ibv_pd* domain) { return reinterpret_cast<DomainObject*>(domain); }
inline RegionObject* ours(ibv_mr* region) { return reinterpret_cast<RegionObject*>(region); }
inline ChannelObject* ours(ibv_comp_channel* c) { return reinterpret_cast<ChannelObject*>(c); }
inline CompletionQueueObject* ours(ibv_cq* q) {
  return reinterpret_cast<CompletionQueueObject*>(q);
}
inline CompletionQueueObject* ours(ibv_cq_ex* q) {
  return reinterpret_cast<CompletionQueueObject*>(q);
}
inline SharedReceiveObject* ours(ibv_srq* q) { return reinterpret_cast<SharedReceiveObject*>(q); }
inline QueuePairObject* ours(ibv_qp* pair) { return reinterpret_cast<QueuePairObject*>(pair); }
inline QueuePairObject* ours(ibv_qp_ex* pair) { return reinterpret_cast<QueuePairObject*>(pair); }

const DeviceDescription& description_of(const ContextObject& context);

// Whether the device has failed for good: every call ends with EIO then.
bool has_failed(ibv_context* context);

// The functions behind ibv_context.ops and verbs_context.
void fill_operations(verbs_context* context);
int poll_queue(ibv_cq* queue, int most, ibv_wc* entries);
int request_notification(ibv_cq* queue, int solicited_only);
int post_send(ibv_qp* pair, ibv_send_wr* first, ibv_send_wr** bad);
int post_receive(ibv_qp* pair, ibv_recv_wr* first, ibv_recv_wr** bad);
int post_shared_receive(ibv_srq* queue, ibv_recv_wr* first, ibv_recv_wr** bad);
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attributes, size_t bytes);
int query_device_extended(ibv_context* context, const ibv_query_device_ex_input* input,
                          ibv_device_attr_ex* attributes, size_t bytes);
ibv_cq_ex* create_queue_extended(ibv_context* context, ibv_cq_init_attr_ex* wishes);
ibv_qp* create_pair_extended(ibv_context* context, ibv_qp_init_attr_ex* wishes);
ibv_srq* create_shared_extended(ibv_context* context, ibv_srq_init_attr_ex* wishes);

// Returns when the program has acknowledged every event it has been given about this queue pair or
// queue. For objects about which no new event can come.
void wait_for_acknowledgements(const void* object);

// Fills the function pointers of ibv_wr_* for a pair made with them.
void fill_batch_functions(QueuePairObject* object);
void free_batch(QueuePairObject* object);

}  // namespace rocelane::softverbs::door

#define SOFTVERBS_API extern "C" __attribute__((visibility("default")))
