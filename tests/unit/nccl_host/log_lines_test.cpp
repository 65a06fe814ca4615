#include "nccl_host/log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::nccl_host {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(LogLines, AreKeptAsFormatted) {
  take_log_lines();
  log_function()(kNcclLogWarn, kNcclLogInit, "x.cc", 1, "port %d of %s", 2, "soft_0");
  const std::vector<LogLine> lines = take_log_lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(log_line_text(lines.front()), "WARN port 2 of soft_0");
  EXPECT_THAT(take_log_lines(), IsEmpty());
}

}  // namespace
}  // namespace rocelane::nccl_host
