#include <gtest/gtest.h>

#include "event.h"
#include "runtime_support.h"

namespace rocelane::lab {
namespace {

using std::chrono::microseconds;

TEST(Event, ElapsedTimeIsTheTimeBetweenTwoMoments) {
  Event start(0, true);
  Event end(0, true);
  const Moment::Time noon{};
  start.record()->reach(noon);
  end.record()->reach(noon + microseconds(1500));
  float milliseconds = 0;
  ASSERT_EQ(elapsed_milliseconds(start, end, milliseconds), cudaSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 1.5F);
}

TEST(Event, ElapsedTimeIsNotReadyBeforeBothAreReached) {
  Event start(0, true);
  Event end(0, true);
  start.record()->reach({});
  const auto pending = end.record();
  float milliseconds = 0;
  EXPECT_EQ(elapsed_milliseconds(start, end, milliseconds), cudaErrorNotReady);
  pending->reach({});
  EXPECT_EQ(elapsed_milliseconds(start, end, milliseconds), cudaSuccess);
}

TEST(Event, ElapsedTimeNeedsTimedAndRecordedEvents) {
  Event timed(0, true);
  Event untimed(0, false);
  const Event unrecorded(0, true);
  timed.record()->reach({});
  untimed.record()->reach({});
  float milliseconds = 0;
  EXPECT_EQ(elapsed_milliseconds(timed, untimed, milliseconds), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(elapsed_milliseconds(timed, unrecorded, milliseconds), cudaErrorInvalidResourceHandle);
}

TEST(Event, OfAStreamIsReachedInOrderAndGivesAPositiveTime) {
  const TestStream stream;
  const TestEvent start;
  const TestEvent end;
  ASSERT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  HeldStream hold(stream);
  ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(start), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(end), cudaErrorNotReady);
  hold.let_go();
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float milliseconds = -1;
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0);
}

TEST(Event, MayBeDestroyedWhileAStreamWaitsForIt) {
  const TestStream one;
  const TestStream other;
  HeldStream hold(one);
  {
    const TestEvent event;
    ASSERT_EQ(cudaEventRecord(event, one), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  hold.let_go();
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
}

}  // namespace
}  // namespace rocelane::lab
