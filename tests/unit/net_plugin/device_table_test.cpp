// What NCCL may join, and what comes of it.

#include "net/plugin/device_table.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::shared_ptr<Port>> three_ports() {
  std::vector<std::shared_ptr<Port>> ports;
  for (const char* name : {"mlx5_0", "mlx5_1", "mlx5_2"}) {
    UsablePort usable;
    usable.name = name;
    ports.push_back(std::make_shared<Port>(nullptr, usable));
  }
  return ports;
}

std::string refusal_of(DeviceTable& table, std::vector<int> members) {
  const auto joined = table.join(members);
  EXPECT_FALSE(joined.ok());
  return joined.ok() ? "" : joined.error().what;
}

TEST(DeviceTable, EveryPortIsADevice) {
  const DeviceTable table(three_ports());
  EXPECT_EQ(table.count(), 3);
  const auto last = table.entry(2);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ((*last)->name, "mlx5_2");
  EXPECT_THAT((*last)->members, ElementsAre(2));
  EXPECT_FALSE(table.entry(3).ok());
  EXPECT_FALSE(table.entry(-1).ok());
}

TEST(DeviceTable, AJoinedDeviceIsNamedAfterItsPortsAndComesLast) {
  DeviceTable table(three_ports());
  const auto joined = table.join(std::array{2, 0});
  ASSERT_TRUE(joined.ok()) << joined.error().what;
  EXPECT_EQ(*joined, 3);
  EXPECT_EQ(table.count(), 4);
  const auto entry = table.entry(3);
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ((*entry)->name, "mlx5_2+mlx5_0");
  EXPECT_THAT((*entry)->members, ElementsAre(2, 0));
  EXPECT_EQ((*entry)->ports.size(), 2U);
}

TEST(DeviceTable, JoiningTheSameAgainGivesTheSameDevice) {
  DeviceTable table(three_ports());
  EXPECT_EQ(table.join(std::array{0, 1}).value(), 3);
  EXPECT_EQ(table.join(std::array{0, 2}).value(), 4);
  EXPECT_EQ(table.join(std::array{0, 1}).value(), 3);
  EXPECT_EQ(table.count(), 5);
}

TEST(DeviceTable, WhatCannotBeJoinedIsRefusedInASentence) {
  DeviceTable table(three_ports());
  ASSERT_EQ(table.join(std::array{0, 1}).value(), 3);
  EXPECT_EQ(refusal_of(table, {0, 7}),
            "NCCL asks to join the network devices 0, 7, but there is no device 7: there are 4");
  EXPECT_THAT(refusal_of(table, {-1, 0}), HasSubstr("there is no device -1"));
  EXPECT_THAT(refusal_of(table, {1, 2, 1}), HasSubstr("device 1 is named twice"));
  EXPECT_THAT(refusal_of(table, {2, 3}), HasSubstr("device 3 is a joined one itself"));
  EXPECT_THAT(refusal_of(table, {0}), HasSubstr("2 to 8 can be joined"));
  EXPECT_THAT(refusal_of(table, {}), HasSubstr("2 to 8 can be joined"));
  EXPECT_EQ(table.count(), 4) << "a refusal adds nothing";
}

TEST(DeviceTable, NoMoreThanAConnectionHasRails) {
  const std::vector<int> nine{0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_FALSE(check_members(nine, 20, 20).ok());
  EXPECT_TRUE(check_members(std::span(nine).first(kMostRails), 20, 20).ok());
}

}  // namespace
}  // namespace rocelane::net
