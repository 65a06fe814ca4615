#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "runtime_support.h"

namespace rocelane::lab {
namespace {

struct Step {
  std::vector<int>* diary;
  int number;
};

void write_down(cudaStream_t stream, Step& step) {
  cudaLaunchHostFunc(
      stream,
      [](void* argument) {
        const auto& current = *static_cast<Step*>(argument);
        current.diary->push_back(current.number);
      },
      &step);
}

TEST(Stream, DoesItsTasksInTheOrderTheyWereGiven) {
  std::vector<int> diary;
  std::vector<Step> steps;
  for (int number = 0; number < 100; ++number) {
    steps.push_back({&diary, number});
  }
  const TestStream stream;
  for (Step& step : steps) {
    write_down(stream, step);
  }
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(diary.size(), 100U);
  EXPECT_TRUE(std::is_sorted(diary.begin(), diary.end()));
}

TEST(Stream, IsNotReadyWhileItHasWork) {
  const TestStream stream;
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  HeldStream hold(stream);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  hold.let_go();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST(Stream, WaitsForAnEventOfAnotherStream) {
  std::vector<int> diary;
  Step first{&diary, 1};
  Step second{&diary, 2};
  const TestStream one;
  const TestStream other;
  const TestEvent event;
  HeldStream hold(one);
  write_down(one, first);
  ASSERT_EQ(cudaEventRecord(event, one), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  write_down(other, second);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  hold.let_go();
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(diary, (std::vector{1, 2}));
}

TEST(Stream, WaitsForTheRecordingThatWasTheLatestWhenItWasAsked) {
  const TestStream held;
  const TestStream waiting;
  const TestStream free;
  const TestEvent event;
  ASSERT_EQ(cudaEventRecord(event, free), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(waiting, event, 0), cudaSuccess);
  HeldStream hold(held);
  ASSERT_EQ(cudaEventRecord(event, held), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(waiting), cudaSuccess);  // would hang on the later recording
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
}

TEST(Stream, AnEventThatWasNeverRecordedIsWaitedForByNobody) {
  const TestStream stream;
  const TestEvent event;
  ASSERT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
}

TEST(LegacyStream, WaitsForBlockingStreams) {
  const TestStream blocking(cudaStreamDefault);
  HeldStream hold(blocking);
  std::vector<int> diary;
  Step step{&diary, 1};
  write_down(nullptr, step);
  EXPECT_EQ(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
  hold.let_go();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(diary.size(), 1U);
}

TEST(LegacyStream, IsWaitedForByBlockingStreams) {
  const TestStream blocking(cudaStreamDefault);
  HeldStream hold(nullptr);
  std::vector<int> diary;
  Step step{&diary, 1};
  write_down(blocking, step);
  EXPECT_EQ(cudaStreamQuery(blocking), cudaErrorNotReady);
  hold.let_go();
  EXPECT_EQ(cudaStreamSynchronize(blocking), cudaSuccess);
}

TEST(LegacyStream, LeavesNonBlockingStreamsAlone) {
  const TestStream free(cudaStreamNonBlocking);
  HeldStream hold(nullptr);
  std::vector<int> diary;
  Step step{&diary, 1};
  write_down(free, step);
  EXPECT_EQ(cudaStreamSynchronize(free), cudaSuccess);
  EXPECT_EQ(diary.size(), 1U);
}

TEST(Stream, ADestroyedHandleIsRefused) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

TEST(Stream, TakesItsThreadWithIt) {
  const auto before = count_threads();
  for (int round = 0; round < 20; ++round) {
    const TestStream stream;
    const TestEvent event;
    ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  }
  EXPECT_TRUE(threads_settle_at(before));
}

TEST(Stream, DestroyingItWithWorkLeftReturnsAtOnceAndTheWorkIsStillDone) {
  const auto before = count_threads();
  std::vector<int> diary;
  Step step{&diary, 1};
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  HeldStream hold(stream);
  write_down(stream, step);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_TRUE(diary.empty());
  hold.let_go();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(diary.size(), 1U);
  EXPECT_TRUE(threads_settle_at(before));
}

}  // namespace
}  // namespace rocelane::lab
