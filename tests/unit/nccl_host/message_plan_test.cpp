#include "nccl_host/message_plan.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::nccl_host {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

PlanOptions plan_of(Mix mix, int messages, int group) {
  PlanOptions options;
  options.mix = mix;
  options.messages = messages;
  options.group = group;
  return options;
}

std::vector<Message> messages_of(const ConnectionPlan& plan) {
  std::vector<Message> all;
  for (const Group& group : plan.groups) {
    all.insert(all.end(), group.messages.begin(), group.messages.end());
  }
  return all;
}

bool same(const ConnectionPlan& a, const ConnectionPlan& b) {
  const auto left = messages_of(a);
  const auto right = messages_of(b);
  return std::ranges::equal(left, right, [](const Message& x, const Message& y) {
    return x.number == y.number && x.tag == y.tag && x.send_bytes == y.send_bytes &&
           x.receive_bytes == y.receive_bytes && x.send_shift == y.send_shift;
  });
}

TEST(Traffic, PairsTakeTurns) {
  EXPECT_THAT(routes_of(Traffic::kPair, 5), ElementsAre(Route{0, 1}, Route{2, 3}));
}

TEST(Traffic, AnExchangeGoesBothWaysWithinEachPair) {
  EXPECT_THAT(routes_of(Traffic::kExchange, 5),
              ElementsAre(Route{0, 1}, Route{1, 0}, Route{2, 3}, Route{3, 2}));
}

TEST(Traffic, ARingComesBack) {
  EXPECT_THAT(routes_of(Traffic::kRing, 3), ElementsAre(Route{0, 1}, Route{1, 2}, Route{2, 0}));
}

TEST(Traffic, EverybodySendsToEverybodyElse) {
  const std::vector<Route> routes = routes_of(Traffic::kAllToAll, 5);
  EXPECT_THAT(routes, SizeIs(20));
  for (const Route& route : routes) {
    EXPECT_NE(route.from, route.to);
  }
}

TEST(Plan, IsTheSameForTheSameSeed) {
  PlanOptions options = plan_of(Mix::kAll, 200, 4);
  const auto routes = routes_of(Traffic::kRing, 3);
  const auto first = plan_messages(options, routes);
  const auto again = plan_messages(options, routes);
  options.seed = 2;
  const auto other = plan_messages(options, routes);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(same(first[i], again[i]));
    EXPECT_FALSE(same(first[i], other[i]));
  }
}

TEST(Plan, HasAsManyMessagesAsAskedEachWithItsNumber) {
  std::set<uint64_t> numbers;
  for (const ConnectionPlan& plan :
       plan_messages(plan_of(Mix::kAll, 101, 8), routes_of(Traffic::kAllToAll, 3))) {
    EXPECT_EQ(plan.messages(), 101U);
    for (const Message& message : messages_of(plan)) {
      EXPECT_TRUE(numbers.insert(message.number).second);
    }
  }
}

TEST(Plan, NamesEveryBufferOfAGroupByAnotherTag) {
  for (const ConnectionPlan& plan :
       plan_messages(plan_of(Mix::kAll, 300, 8), routes_of(Traffic::kPair, 2))) {
    size_t largest = 0;
    for (const Group& group : plan.groups) {
      std::set<int> tags;
      for (const Message& message : group.messages) {
        EXPECT_TRUE(tags.insert(message.tag).second);
      }
      largest = std::max(largest, tags.size());
    }
    EXPECT_EQ(largest, 8U);
  }
}

TEST(Plan, OfOddMessagesHasEmptyTruncatedAndUnalignedOnes) {
  const auto plans = plan_messages(plan_of(Mix::kOdd, 200, 1), routes_of(Traffic::kPair, 2));
  const auto messages = messages_of(plans.front());
  const auto some = [&](auto what) { return std::ranges::any_of(messages, what); };
  EXPECT_TRUE(some([](const Message& m) { return m.send_bytes == 0 && m.receive_bytes > 0; }));
  EXPECT_TRUE(some([](const Message& m) { return m.send_bytes == 0 && m.receive_bytes == 0; }));
  EXPECT_TRUE(some([](const Message& m) { return m.send_bytes > m.receive_bytes; }));
  EXPECT_TRUE(some([](const Message& m) { return m.send_bytes < m.receive_bytes; }));
  EXPECT_TRUE(some([](const Message& m) { return m.send_shift % 8 != 0; }));
  EXPECT_TRUE(some([](const Message& m) { return m.receive_shift % 8 != 0; }));
}

TEST(Plan, OfLowLatencyMessagesNeedsNoCompletionUnlessGrouped) {
  for (const ConnectionPlan& plan :
       plan_messages(plan_of(Mix::kLl, 100, 3), routes_of(Traffic::kPair, 2))) {
    for (const Group& group : plan.groups) {
      EXPECT_EQ(group.completion_is_optional(), group.messages.size() == 1);
      EXPECT_EQ(group.messages.front().send_bytes % 16, 0U);
    }
  }
}

TEST(Plan, OfGivenSizesHasOnlyTheseInFullGroups) {
  PlanOptions options = plan_of(Mix::kAll, 100, 4);
  options.sizes = {7, 4096};
  const auto plans = plan_messages(options, routes_of(Traffic::kPair, 2));
  EXPECT_THAT(plans.front().groups, SizeIs(25));
  for (const Message& message : messages_of(plans.front())) {
    EXPECT_TRUE(message.send_bytes == 7 || message.send_bytes == 4096);
    EXPECT_EQ(message.send_bytes, message.receive_bytes);
  }
}

}  // namespace
}  // namespace rocelane::nccl_host
