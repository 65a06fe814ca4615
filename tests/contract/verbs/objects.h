#pragma once

// Owners of verbs objects. Destroying one must succeed: an error is a failure of the test.

#include <memory>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace rocelane::contract {

template <auto Destroy>
struct Destroyer {
  template <class Object>
  void operator()(Object* object) const {
    EXPECT_EQ(Destroy(object), 0) << "a verbs object could not be destroyed";
  }
};

using Context = std::unique_ptr<ibv_context, Destroyer<&ibv_close_device>>;
using Domain = std::unique_ptr<ibv_pd, Destroyer<&ibv_dealloc_pd>>;
using Region = std::unique_ptr<ibv_mr, Destroyer<&ibv_dereg_mr>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Destroyer<&ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Destroyer<&ibv_destroy_qp>>;
using SharedReceiveQueue = std::unique_ptr<ibv_srq, Destroyer<&ibv_destroy_srq>>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, Destroyer<&ibv_destroy_comp_channel>>;

}  // namespace rocelane::contract
