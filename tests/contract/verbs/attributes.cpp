#include "attributes.h"

namespace rocelane::contract {

ibv_qp_attr init_attributes(const Port& port, unsigned access) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = port.number;
  attributes.qp_access_flags = access;
  return attributes;
}

ibv_qp_attr ready_to_receive_attributes(const Port& port, const Address& peer,
                                        const Timing& timing) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = port.mtu;
  attributes.dest_qp_num = peer.queue_pair;
  attributes.rq_psn = peer.packet_sequence;
  attributes.max_dest_rd_atomic = kReadsInFlight;
  attributes.min_rnr_timer = timing.receiver_not_ready_timer;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = port.number;
  attributes.ah_attr.grh.dgid = peer.gid;
  attributes.ah_attr.grh.sgid_index = port.gid_index;
  attributes.ah_attr.grh.hop_limit = 64;
  attributes.ah_attr.grh.traffic_class = 104;
  attributes.ah_attr.grh.flow_label = 0x12345;
  return attributes;
}

ibv_qp_attr ready_to_send_attributes(uint32_t packet_sequence, const Timing& timing) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = timing.timeout;
  attributes.retry_cnt = timing.retries;
  attributes.rnr_retry = timing.receiver_not_ready_retries;
  attributes.sq_psn = packet_sequence;
  attributes.max_rd_atomic = kReadsInFlight;
  return attributes;
}

int modify_state(ibv_qp* queue_pair, ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  return ibv_modify_qp(queue_pair, &attributes, IBV_QP_STATE);
}

ibv_qp_state state_of(ibv_qp* queue_pair) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr creation{};
  if (ibv_query_qp(queue_pair, &attributes, IBV_QP_STATE, &creation) != 0) {
    return IBV_QPS_UNKNOWN;
  }
  return attributes.qp_state;
}

}  // namespace rocelane::contract
