#include "net/health/interface_queues.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::telemetry {
namespace {

using ::testing::HasSubstr;

// Asks the real kernel: the loopback interface is everywhere and has no priorities.

TEST(InterfaceQueues, OfLoopbackHaveNoStatisticsByPriority) {
  const auto statistics = read_interface_statistics("lo");
  if (statistics.ok()) {
    EXPECT_FALSE(priority_bytes(*statistics).has_value());
  } else {
    EXPECT_THAT(statistics.error().what, HasSubstr("lo: Operation not supported"));
  }
}

TEST(InterfaceQueues, OfLoopbackHaveNoDcb) {
  const auto rules = read_queue_rules("lo");
  ASSERT_FALSE(rules.ok());
  EXPECT_THAT(rules.error().what, HasSubstr("Operation not supported"));
}

TEST(InterfaceQueues, OfAnInterfaceThatIsNotThereAreAnError) {
  EXPECT_FALSE(read_interface_statistics("rocelane-none").ok());
  EXPECT_FALSE(read_queue_rules("rocelane-none").ok());
}

TEST(InterfaceQueues, AreNotAskedForUnderAnImpossibleName) {
  for (const char* name : {"", "sixteen-letters-"}) {
    const auto statistics = read_interface_statistics(name);
    ASSERT_FALSE(statistics.ok());
    EXPECT_THAT(statistics.error().what, HasSubstr("no name of an interface"));
    EXPECT_FALSE(read_queue_rules(name).ok());
  }
}

TEST(InterfaceQueues, OfEveryInterfaceHereAreReadOrRefusedInWords) {
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net")) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const auto statistics = read_interface_statistics(name);
    if (statistics.ok()) {
      for (const Statistic& statistic : *statistics) {
        EXPECT_FALSE(statistic.name.empty());
      }
    } else {
      EXPECT_THAT(statistics.error().what, HasSubstr(name));
    }
    const auto rules = read_queue_rules(name);
    EXPECT_TRUE(rules.ok() || !rules.error().what.empty());
  }
}

}  // namespace
}  // namespace rocelane::telemetry
