// Numbers that mean nothing, or something else, are never given out: 0 is no memory key, and queue
// pairs 0 and 1 belong to management.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "processes.h"
#include "processes_end.h"

namespace rocelane::softverbs_test {
namespace {

constexpr const char* kDevice = "host1/soft_0";

// Enough of them, one after the other, for generations of numbers to come round again.
TEST(ReservedNumbers, AreNoMemoryKeys) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    constexpr int kRegistrations = 40'000;
    ibv_pd* const domain = ibv_alloc_pd(open_device(kDevice));
    std::vector<char> memory(4096);
    uint32_t least = std::numeric_limits<uint32_t>::max();
    for (int i = 0; i < kRegistrations; ++i) {
      ibv_mr* const region =
          ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
      demand_call(region != nullptr, "a registration fails");
      least = std::min({least, region->lkey, region->rkey});
      demand(ibv_dereg_mr(region) == 0, "a deregistration fails");
    }
    line.put(least);
    line.put(ibv_dealloc_pd(domain));
  });
  ASSERT_TRUE(ends_well(process));
  EXPECT_GT(process.line().get<uint32_t>(), 0U);
  EXPECT_EQ(process.line().get<int>(), 0) << "a region was lost";
}

TEST(ReservedNumbers, AreNoQueuePairs) {
  LabRun run;
  Process& process = run.start([](Line& line) {
    constexpr int kQueuePairs = 20'000;
    ibv_context* const device = open_device(kDevice);
    ibv_pd* const domain = ibv_alloc_pd(device);
    ibv_cq* const queue = ibv_create_cq(device, 16, nullptr, nullptr, 0);
    ibv_qp_init_attr wishes{};
    wishes.send_cq = queue;
    wishes.recv_cq = queue;
    wishes.cap = {4, 4, 1, 1, 0};
    wishes.qp_type = IBV_QPT_RC;
    uint32_t least = std::numeric_limits<uint32_t>::max();
    for (int i = 0; i < kQueuePairs; ++i) {
      ibv_qp* const pair = ibv_create_qp(domain, &wishes);
      demand_call(pair != nullptr, "a queue pair is refused");
      least = std::min(least, pair->qp_num);
      demand(ibv_destroy_qp(pair) == 0, "a queue pair cannot be destroyed");
    }
    line.put(least);
  });
  ASSERT_TRUE(ends_well(process));
  EXPECT_GT(process.line().get<uint32_t>(), 1U);
}

}  // namespace
}  // namespace rocelane::softverbs_test
