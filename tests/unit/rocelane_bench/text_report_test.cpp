#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/report.h"
#include "reports.h"

namespace rocelane::bench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(BenchTable, ShowsBothNetsAndTheirRatio) {
  const std::string text = text_report(options_of_sizes(), report_of_sizes());
  EXPECT_THAT(text, HasSubstr("# Ours: table v12 of /lib/Ours.so"));
  EXPECT_THAT(text, HasSubstr("each in a process of its own"));
  EXPECT_THAT(text, HasSubstr("soft_0 to soft_1, 1 connection, window 8"));
  EXPECT_THAT(text, ContainsRegex("131072 +2.00 +10 +9.00 +10.0 +20 +1000 +4.00 +10 +9.00 +5.0 "
                                  "+20 +500 +0.50 +2.00\n"));
}

TEST(BenchTable, OfOneNetHasNoRatio) {
  Report report = report_of_sizes();
  report.nets.pop_back();
  const std::string text = text_report(options_of_sizes(), report);
  EXPECT_THAT(text, Not(HasSubstr("Ours / ")));
  EXPECT_THAT(text, Not(HasSubstr("each in a process")));
}

TEST(BenchTable, UnderLoadIsAboutLatencyAlone) {
  Options options = options_of_sizes();
  options.load_bytes = 4194304;
  const std::string text = text_report(options, report_of_sizes());
  EXPECT_THAT(text, HasSubstr("while messages of 4194304 bytes fill the wire"));
  EXPECT_THAT(text, Not(HasSubstr("MB/s")));
  EXPECT_THAT(text, ContainsRegex(" 8 +2.00 +10 +9.00 +4.00 +10 +9.00 +0.50\n"));
}

TEST(BenchTable, ShowsCountsForEachMessage) {
  Options options = options_of_sizes();
  options.counts = true;
  Report report = report_of_sizes();
  for (NetResult& net : report.nets) {
    net.counts.assign(2,
                      {8, 100, Counts{200, 150, 100, 2, 201, 300, 99}, Instructions{900, 50, 7}});
  }
  report.nets[1].counts[1].counts->send_requests = 400;
  const std::string text = text_report(options, report);
  EXPECT_THAT(text, ContainsRegex("131072 bytes, 100 messages +Ours +IB +ratio\n"));
  EXPECT_THAT(text, ContainsRegex("send work requests +2.000 +4.000 +0.50\n"));
  EXPECT_THAT(text, ContainsRegex("requests \\+ calls \\+ receives +4.500 +6.500 +0.69\n"));
  EXPECT_THAT(text, ContainsRegex("instructions in the transport +9.0 +9.0 +1.00\n"));
  EXPECT_THAT(text, Not(HasSubstr("not counted")));
}

TEST(BenchTable, SaysWhatCouldNotBeCounted) {
  Options options = options_of_sizes();
  options.counts = true;
  Report report = report_of_sizes();
  report.why_no_instructions = "valgrind is not in PATH";
  for (NetResult& net : report.nets) {
    net.counts.assign(2, {8, 100, std::nullopt, std::nullopt});
  }
  const std::string text = text_report(options, report);
  EXPECT_THAT(text, ContainsRegex("polls +n/a +n/a +n/a\n"));
  EXPECT_THAT(text, HasSubstr("libibverbs is not softverbs"));
  EXPECT_THAT(text, HasSubstr("Instructions are not counted: valgrind is not in PATH."));
}

TEST(BenchTable, ShowsRoundsSetUpAndSpread) {
  Report report = report_of_sizes();
  for (NetResult& net : report.nets) {
    net.idle = {{90, 100, 110},
                {40, 50, 60},
                CountResult{0, 10, Counts{0, 0, 0, 0, 0, 80, 80}, {}},
                CountResult{0, 10, Counts{}, {}}};
    net.set_up = {{0.1, 0.25, 0.3}, {2048, 2048, 2048}, {1024, 1024, 1024}};
    net.fullest_to_mean = {1.25, 1.5, 1.75};
  }
  Options options = options_of_sizes();
  options.subject = Subject::kIdle;
  EXPECT_THAT(text_report(options, report), ContainsRegex("receives nobody sends to +100 +100"));
  EXPECT_THAT(text_report(options, report), ContainsRegex("polls +8.000 +8.000 +1.00\n"));
  options.subject = Subject::kSetUp;
  EXPECT_THAT(text_report(options, report), ContainsRegex("set-up of all, ms +250.0 +250.0"));
  EXPECT_THAT(text_report(options, report), ContainsRegex("shared memory, KiB +1.0 +1.0"));
  options.subject = Subject::kSpread;
  options.seeds = 3;
  EXPECT_THAT(text_report(options, report), ContainsRegex("median of the seeds +1.500 +1.500"));
  EXPECT_THAT(text_report(options, report), ContainsRegex("the worst +1.750 +1.750"));
}

}  // namespace
}  // namespace rocelane::bench
