#include "net/transfer/send_lane.h"

#include <cerrno>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kLarge = 128 * 1024;
constexpr uint64_t kWorkId = 0xabc0000;

// What was posted: the ids of each call. libibverbs calls through the context's table.
std::vector<std::vector<uint64_t>> calls;
int answer = 0;

int post_send(ibv_qp* /*pair*/, ibv_send_wr* request, ibv_send_wr** /*refused*/) {
  calls.emplace_back();
  for (; request != nullptr; request = request->next) {
    calls.back().push_back(request->wr_id - kWorkId);
  }
  return answer;
}

class SendLaneTest : public ::testing::Test {
 protected:
  SendLaneTest() {
    calls.clear();
    answer = 0;
    context_.ops.post_send = post_send;
    pair_.context = &context_;
    lane_.open(&pair_, kWorkId, {});
  }

  int send(uint16_t id, uint32_t bytes) {
    SendLane::Stripe stripe;
    stripe.id = id;
    stripe.bytes = bytes;
    const int error = lane_.add(stripe);
    return error != 0 ? error : lane_.post_if_idle();
  }

  ibv_context context_{};
  ibv_qp pair_{};
  SendLane lane_;
};

TEST_F(SendLaneTest, PostsAtOnceWhileLittleIsUnderWay) {
  for (uint16_t id = 0; id < 10; ++id) {
    ASSERT_EQ(send(id, 8), 0);
  }
  EXPECT_EQ(calls.size(), 10U);
}

TEST_F(SendLaneTest, FourShareACallWhileTheLaneIsBusy) {
  for (uint16_t id = 0; id < 10; ++id) {
    ASSERT_EQ(send(id, kLarge), 0);
  }
  EXPECT_THAT(calls, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3, 4, 5),
                                 ElementsAre(6, 7, 8, 9)));
}

TEST_F(SendLaneTest, WhatWaitsGoesOutAsSoonAsTheLaneHasLittleToDo) {
  for (uint16_t id = 0; id < 4; ++id) {
    ASSERT_EQ(send(id, kLarge), 0);
  }
  ASSERT_THAT(calls, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_EQ(lane_.complete_one(0), 0);
  EXPECT_THAT(calls, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2, 3)));
}

TEST_F(SendLaneTest, NothingWaitsWhenNothingIsUnderWay) {
  // Whatever is sent and completed, in whatever order: a stripe never waits for one that is not
  // coming.
  uint32_t under_way = 0;
  uint32_t state = 1;
  uint16_t sent = 0;
  for (int step = 0; step < 100'000; ++step) {
    state = state * 1664525 + 1013904223;
    if (state >> 30U != 0 && lane_.has_room(1)) {
      ASSERT_EQ(send(sent++, state >> 13U), 0);
    } else if (under_way > 0) {
      ASSERT_EQ(lane_.complete_one(0), 0);
      --under_way;
    }
    for (const auto& call : std::exchange(calls, {})) {
      under_way += static_cast<uint32_t>(call.size());
    }
    ASSERT_TRUE(under_way > 0 || lane_.has_room(kSendDepth)) << "step " << step;
  }
}

TEST_F(SendLaneTest, WhatWaitsTakesRoom) {
  for (uint32_t id = 0; id < kSendDepth; ++id) {
    ASSERT_TRUE(lane_.has_room(1));
    ASSERT_EQ(send(static_cast<uint16_t>(id), kLarge), 0);
  }
  EXPECT_FALSE(lane_.has_room(1));
}

TEST_F(SendLaneTest, ARefusalOfTheNicIsHandedOn) {
  answer = ENOMEM;
  EXPECT_EQ(send(0, 8), ENOMEM);
}

}  // namespace
}  // namespace rocelane::net
