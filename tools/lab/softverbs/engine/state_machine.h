#pragma once

#include <infiniband/verbs.h>

namespace rocelane::softverbs {

// Whether an RC queue pair may go from one state to another with the attributes that `mask`
// (ibv_qp_attr_mask) names: each transition needs some, allows some more, and refuses the rest.
bool may_change_state(ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace rocelane::softverbs
