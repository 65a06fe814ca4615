#include "collperf/checked_call.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using testing::HasSubstr;

// Rank 1 of 2 on an emulated GPU; the test plays NCCL.
class CheckedCallOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    Result<RankBuffers> buffers = RankBuffers::allocate(4096);
    ASSERT_TRUE(buffers.ok()) << buffers.error().what;
    buffers_ = std::move(*buffers);
  }

  CheckedCall prepared(const CallPlan& plan) {
    Result<CheckedCall> call = CheckedCall::prepare(plan, 3, 1, buffers_);
    EXPECT_TRUE(call.ok()) << call.error().what;
    return std::move(*call);
  }

  // Puts the right result where `plan` says, as NCCL would.
  void deliver(const CallPlan& plan) const {
    const std::byte* into = pointers_of(plan, 1, buffers_, 0).receive;
    for (int source = 0; source < plan.ranks; ++source) {
      std::vector<std::byte> block(plan.shape.call_count * size_of(plan.type));
      fill_input({plan.type, plan.op, plan.ranks, 3}, source, 0, block);
      write(into + static_cast<size_t>(source) * block.size(), block);
    }
  }

  static void write(const std::byte* device, const std::vector<std::byte>& bytes) {
    auto* const place = const_cast<std::byte*>(device);
    ASSERT_EQ(cudaMemcpy(place, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }

  static void damage(const std::byte* device) {
    std::vector<std::byte> byte(1);
    ASSERT_EQ(cudaMemcpy(byte.data(), device, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    byte[0] ^= std::byte{1};
    write(device, byte);
  }

  static Mismatches verified(const CheckedCall& call) {
    Result<Mismatches> mismatches = call.verify();
    EXPECT_TRUE(mismatches.ok()) << mismatches.error().what;
    return std::move(*mismatches);
  }

  static CallPlan gather(bool in_place) {
    return {Collective::kAllGather,
            shape_of_call(Collective::kAllGather, 17, 2),
            ElementType::kInt32,
            std::nullopt,
            0,
            2,
            in_place};
  }

  RankBuffers buffers_;
};

TEST_F(CheckedCallOnAGpu, IsRightWhenEverythingArrived) {
  for (const bool in_place : {false, true}) {
    const CheckedCall call = prepared(gather(in_place));
    deliver(gather(in_place));
    EXPECT_EQ(verified(call).count, 0U) << verified(call).first;
    EXPECT_EQ(call.delivered_count(), 34U);
  }
}

TEST_F(CheckedCallOnAGpu, IsWrongInEveryElementWhenNothingArrived) {
  EXPECT_EQ(verified(prepared(gather(false))).count, 34U);
  // In place the own block is there already.
  EXPECT_EQ(verified(prepared(gather(true))).count, 17U);
}

TEST_F(CheckedCallOnAGpu, NoticesOneDamagedElement) {
  const CallPlan plan = gather(false);
  const CheckedCall call = prepared(plan);
  deliver(plan);
  damage(pointers_of(plan, 1, buffers_, 0).receive + 17 * 4);
  EXPECT_EQ(verified(call).count, 1U);
  EXPECT_THAT(verified(call).first, HasSubstr("element 0 from rank 1"));
}

TEST_F(CheckedCallOnAGpu, NoticesAByteWrittenBehindAndBeforeTheReceiveBuffer) {
  const CallPlan plan = gather(false);
  for (const ptrdiff_t at : {ptrdiff_t{34 * 4}, ptrdiff_t{-1}, ptrdiff_t{34 * 4 + 4095}}) {
    const CheckedCall call = prepared(plan);
    deliver(plan);
    damage(buffers_.receive.content() + at);
    EXPECT_EQ(verified(call).count, 1U);
    EXPECT_THAT(verified(call).first, HasSubstr("byte " + std::to_string(at) + " of the receive"));
  }
}

TEST_F(CheckedCallOnAGpu, NoticesAChangedSendBuffer) {
  const CallPlan plan = gather(false);
  const CheckedCall call = prepared(plan);
  deliver(plan);
  damage(buffers_.send.content() + 3);
  EXPECT_THAT(verified(call).first, HasSubstr("byte 3 of the send buffer"));
}

TEST_F(CheckedCallOnAGpu, ExpectsNothingOfARankThatReceivesNothing) {
  const CallPlan plan{Collective::kReduce,
                      shape_of_call(Collective::kReduce, 17, 2),
                      ElementType::kFloat,
                      ReduceOp::kSum,
                      0,
                      2,
                      false};
  const CheckedCall call = prepared(plan);
  EXPECT_EQ(verified(call).count, 0U);
  damage(buffers_.receive.content());
  EXPECT_EQ(verified(call).count, 1U);
}

TEST_F(CheckedCallOnAGpu, RefusesACallThatDoesNotFit) {
  const CallPlan plan{Collective::kAllReduce,
                      shape_of_call(Collective::kAllReduce, 5000, 2),
                      ElementType::kInt8,
                      ReduceOp::kSum,
                      0,
                      2,
                      false};
  EXPECT_FALSE(CheckedCall::prepare(plan, 3, 1, buffers_).ok());
}

}  // namespace
}  // namespace rocelane::collperf
