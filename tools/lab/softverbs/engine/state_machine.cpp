#include "softverbs/engine/state_machine.h"

#include <algorithm>
#include <array>

namespace rocelane::softverbs {
namespace {

struct Transition {
  ibv_qp_state from, to;
  int needed, allowed;
};

// InfiniBand specification 11.2.5.2, reliable connection.
constexpr int kAtInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kAtRtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kAtRts =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kAnyTime = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
                         IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int kWhileDrained = kAnyTime | IBV_QP_AV | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                              IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;

constexpr std::array kTransitions{
    Transition{IBV_QPS_RESET, IBV_QPS_INIT, kAtInit, 0},
    Transition{IBV_QPS_INIT, IBV_QPS_INIT, 0, kAtInit},
    Transition{IBV_QPS_INIT, IBV_QPS_RTR, kAtRtr,
               IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    Transition{IBV_QPS_RTR, IBV_QPS_RTS, kAtRts, kAnyTime},
    Transition{IBV_QPS_RTS, IBV_QPS_RTS, 0, kAnyTime},
    Transition{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    Transition{IBV_QPS_SQD, IBV_QPS_RTS, 0, kAnyTime},
    Transition{IBV_QPS_SQD, IBV_QPS_SQD, 0, kWhileDrained},
};

}  // namespace

bool may_change_state(ibv_qp_state from, ibv_qp_state to, int mask) {
  const int given = mask & ~IBV_QP_STATE;
  if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET)) {
    return (given & ~IBV_QP_CUR_STATE) == 0;
  }
  return std::any_of(kTransitions.begin(), kTransitions.end(), [&](const Transition& known) {
    return known.from == from && known.to == to && (given & known.needed) == known.needed &&
           (given & ~(known.needed | known.allowed)) == 0;
  });
}

}  // namespace rocelane::softverbs
