#include "collperf/watchdog.h"

#include <future>

#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(Watchdog, SaysWhatTookTooLong) {
  std::promise<std::string> said;
  Watchdog watchdog(milliseconds(1), [&](const std::string& text) { said.set_value(text); });
  const Watchdog::Watch watch(watchdog, "Rank 2: creating a communicator");
  std::future<std::string> sentence = said.get_future();
  ASSERT_EQ(sentence.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_THAT(sentence.get(), AllOf(HasSubstr("Rank 2: creating a communicator"),
                                    HasSubstr("0.001 s"), HasSubstr("--deadline")));
}

TEST(Watchdog, IsQuietWhenTheWorkEndsInTime) {
  Watchdog watchdog(std::chrono::hours(1), [](const std::string& text) { FAIL() << text; });
  for (int i = 0; i < 100; ++i) {
    const Watchdog::Watch watch(watchdog, "work");
  }
}

TEST(Watchdog, WatchesNothingWithoutPatience) {
  Watchdog watchdog(milliseconds(0), [](const std::string& text) { FAIL() << text; });
  const Watchdog::Watch watch(watchdog, "work");
}

}  // namespace
}  // namespace rocelane::collperf
