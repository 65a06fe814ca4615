#include "verbs/queue_pair.h"

#include <cerrno>

#include "base/log.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace rocelane::verbs {
namespace {

constexpr uint8_t kHopLimit = 255;
constexpr uint8_t kReadsInFlight = 1;  // only the flush lane reads, one at a time
constexpr uint8_t kReceiverNotReady =
    12;  // 0.64 ms between tries; smaller values make soft-RoCE storm
constexpr uint8_t kRetryForever = 7;

}  // namespace

void QueuePair::Destroyer::operator()(Pointer pair) const {
  const std::string_view device = device_name(pair->context);
  if (const int error = ibv_destroy_qp(pair); error != 0) {
    log_warn("ibv_destroy_qp on {} failed: {}; the queue pair is leaked", device,
             errno_text(error));
  }
}

Result<QueuePair> QueuePair::create(ibv_pd* domain, ibv_cq* completions,
                                    const QueuePairLimits& limits) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = completions;
  attributes.recv_cq = completions;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = limits.send_depth;
  attributes.cap.max_recv_wr = limits.receive_depth;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = limits.inline_bytes;
  ibv_qp* pair = ibv_create_qp(domain, &attributes);
  if (pair == nullptr && limits.inline_bytes > 0) {
    // Inline data is a wish. A device that has none still carries the connection.
    attributes.cap.max_inline_data = 0;
    pair = ibv_create_qp(domain, &attributes);
  }
  if (pair == nullptr) {
    return call_failed("ibv_create_qp", device_name(domain->context), errno);
  }
  QueuePair result;
  result.handle_ = UniqueHandle<Destroyer>(pair);
  result.inline_bytes_ = attributes.cap.max_inline_data;
  return result;
}

Status QueuePair::to_init(const QueuePairPath& path) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = path.pkey_index;
  attributes.port_num = path.port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (path.peer_may_read) {
    attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
  }
  const int error = ibv_modify_qp(
      get(), &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) {
    return call_failed("ibv_modify_qp to INIT", device_name(get()->context), error,
                       error == EINVAL ? "check ROCELANE_PKEY_INDEX" : "");
  }
  return {};
}

Status QueuePair::to_ready_to_receive(const QueuePairPath& path, int* error_number) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = path.mtu;
  attributes.dest_qp_num = path.remote_queue_pair;
  attributes.rq_psn = path.remote_packet_sequence;
  attributes.max_dest_rd_atomic = kReadsInFlight;
  attributes.min_rnr_timer = kReceiverNotReady;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.grh.dgid = path.remote_gid;
  attributes.ah_attr.grh.flow_label = path.flow_label;
  attributes.ah_attr.grh.sgid_index = path.gid_index;
  attributes.ah_attr.grh.hop_limit = kHopLimit;
  attributes.ah_attr.grh.traffic_class = path.traffic_class;
  attributes.ah_attr.sl = path.service_level;
  attributes.ah_attr.port_num = path.port;
  const int error =
      ibv_modify_qp(get(), &attributes,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  *error_number = error;
  if (error != 0) {
    return call_failed("ibv_modify_qp to RTR", device_name(get()->context), error,
                       ready_to_receive_hint(error));
  }
  return {};
}

Status QueuePair::to_ready_to_send(const QueuePairPath& path) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = path.timeout_exponent;
  attributes.retry_cnt = path.retry_count;
  attributes.rnr_retry = kRetryForever;
  attributes.sq_psn = path.local_packet_sequence;
  attributes.max_rd_atomic = kReadsInFlight;
  const int error = ibv_modify_qp(get(), &attributes,
                                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error != 0) {
    return call_failed("ibv_modify_qp to RTS", device_name(get()->context), error);
  }
  return {};
}

void QueuePair::to_error() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(get(), &attributes, IBV_QP_STATE);
}

}  // namespace rocelane::verbs
