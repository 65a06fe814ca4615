#pragma once

// The attributes of each step of a queue pair's life, and which of them the step requires.

#include <cstdint>

#include <infiniband/verbs.h>

namespace rocelane::contract {

// The port of this process that a test uses.
struct Port {
  uint8_t number = 1;
  uint8_t gid_index = 0;
  ibv_gid gid{};
  ibv_mtu mtu = IBV_MTU_1024;
};

// What a peer has to know; plain bytes, so that processes can hand it over.
struct Address {
  ibv_gid gid{};
  uint32_t queue_pair = 0;
  uint32_t packet_sequence = 0;  // of its first packet
};

struct Timing {
  uint8_t timeout = 14;  // 4.096 us · 2^14 = 67 ms
  uint8_t retries = 6;   // 7 has a meaning of its own on some devices
  uint8_t receiver_not_ready_retries = 7;
  uint8_t receiver_not_ready_timer = 12;  // 0.64 ms; soft-RoCE storms with less
};

constexpr uint8_t kReadsInFlight = 4;  // a power of two: some devices round up

constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kReadyToReceiveMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                    IBV_QP_MIN_RNR_TIMER;
constexpr int kReadyToSendMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr init_attributes(const Port& port, unsigned access);
ibv_qp_attr ready_to_receive_attributes(const Port& port, const Address& peer,
                                        const Timing& timing);
ibv_qp_attr ready_to_send_attributes(uint32_t packet_sequence, const Timing& timing);

// A step that needs no attribute but the state: to ERR, RESET, SQD. 0 or errno.
int modify_state(ibv_qp* queue_pair, ibv_qp_state state);

// What the device says, not what the library remembers; IBV_QPS_UNKNOWN when it does not answer.
ibv_qp_state state_of(ibv_qp* queue_pair);

}  // namespace rocelane::contract
