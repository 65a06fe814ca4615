#include "net/abi/log_bridge.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "nccl_log.h"

namespace rocelane::net::abi {
namespace {

TEST(LogBridge, GivesWarningsEverySubsystemSoThatNoFilterHidesThem) {
  const NcclLog log;
  log_warn("rail {} is down", 3);
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0].level, kNcclLogWarn);
  EXPECT_EQ(log.lines()[0].flags, kNcclLogAll);
  EXPECT_EQ(log.lines()[0].text, "NET/Rocelane : rail 3 is down");
}

TEST(LogBridge, ShowsChoicesUnderNcclsDefaultSubsystems) {
  const NcclLog log;
  log_info("chose GID {}", 5);
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0].level, kNcclLogInfo);
  EXPECT_NE(log.lines()[0].flags & kNcclLogInit, 0U);
  EXPECT_NE(log.lines()[0].flags & kNcclLogNet, 0U);
}

TEST(LogBridge, KeepsTracesToTheNetSubsystem) {
  const NcclLog log;
  log_trace("posted");
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0].level, kNcclLogTrace);
  EXPECT_EQ(log.lines()[0].flags, kNcclLogNet);
}

TEST(LogBridge, NeverReadsAMessageAsAFormat) {
  const NcclLog log;
  log_warn("{}", "100% of %s and %n");
  EXPECT_EQ(log.lines().at(0).text, "NET/Rocelane : 100% of %s and %n");
}

TEST(LogBridge, NamesTheFileWithoutTheFoldersOfTheBuildMachine) {
  const NcclLog log;
  log_warn("here");
  EXPECT_EQ(log.lines().at(0).file, "log_bridge_test.cpp");
}

TEST(LogBridge, DropsLinesWhenNcclGaveNoFunction) {
  const NcclLog log;
  send_logs_to(nullptr);
  log_warn("nobody hears this");
  warn_without_memory("init", "neither this");
  EXPECT_TRUE(log.lines().empty());
}

}  // namespace
}  // namespace rocelane::net::abi
