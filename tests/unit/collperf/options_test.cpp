#include "collperf/options.h"

#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Options accepted(const std::vector<std::string>& arguments) {
  const Result<CommandLine> parsed = parse_command_line(arguments);
  EXPECT_TRUE(parsed.ok()) << parsed.error().what;
  return parsed.ok() && parsed->options ? *parsed->options : Options{};
}

std::string refused(const std::vector<std::string>& arguments) {
  const Result<CommandLine> parsed = parse_command_line(arguments);
  EXPECT_FALSE(parsed.ok());
  return parsed.ok() ? "" : parsed.error().what;
}

TEST(CommandLine, HasTheDefaultsOfNcclTests) {
  const Options options = accepted({"broadcast"});
  EXPECT_EQ(options.collective, Collective::kBroadcast);
  EXPECT_EQ(options.sizes.min_bytes, size_t{32} << 20);
  EXPECT_EQ(options.sizes.max_bytes, size_t{32} << 20);
  EXPECT_EQ(options.sizes.step_bytes, size_t{1} << 20);
  EXPECT_FALSE(options.sizes.multiplies());
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.warmup_iterations, 5);
  EXPECT_EQ(options.checks, 1);
  EXPECT_EQ(options.types, std::vector{ElementType::kFloat});
  EXPECT_EQ(options.ops, std::vector{ReduceOp::kSum});
  EXPECT_EQ(options.root, 0);
  EXPECT_EQ(options.time_of, TimeOf::kAverage);
}

TEST(CommandLine, TakesTheShortFlagsOfNcclTests) {
  const Options options =
      accepted({"all_reduce", "-b", "8",   "-e", "128M", "-f",     "2",        "-n",
                "3",          "-w", "1",   "-c", "2",    "-d",     "bfloat16", "-o",
                "mulsum",     "-r", "all", "-g", "2",    "-a",     "3",        "-m",
                "4",          "-z", "1",   "-T", "60",   "--json", "out.json"});
  EXPECT_EQ(options.sizes.min_bytes, 8U);
  EXPECT_EQ(options.sizes.max_bytes, size_t{128} << 20);
  EXPECT_EQ(options.sizes.step_factor, 2U);
  EXPECT_EQ(options.iterations, 3);
  EXPECT_EQ(options.warmup_iterations, 1);
  EXPECT_EQ(options.checks, 2);
  EXPECT_EQ(options.types, std::vector{ElementType::kBfloat16});
  EXPECT_EQ(options.ops, std::vector{ReduceOp::kMulSum});
  EXPECT_EQ(options.root, std::nullopt);
  EXPECT_EQ(options.gpus_per_process, 2);
  EXPECT_EQ(options.time_of, TimeOf::kSlowest);
  EXPECT_EQ(options.calls_per_iteration, 4);
  EXPECT_TRUE(options.wait_after_each_call);
  EXPECT_EQ(options.deadline_s, 60);
  EXPECT_EQ(options.json_file, "out.json");
}

TEST(CommandLine, TakesAllTypesAndOperations) {
  const Options options = accepted({"reduce", "-d", "all", "-o", "all"});
  EXPECT_EQ(options.types.size(), kAllElementTypes.size());
  EXPECT_EQ(options.ops.size(), kAllReduceOps.size());
}

TEST(CommandLine, AnswersACallForHelp) {
  const Result<CommandLine> parsed = parse_command_line({"--help"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->options.has_value());
  EXPECT_THAT(parsed->help, AllOf(HasSubstr("--minbytes"), HasSubstr("WORLD_SIZE")));
}

TEST(CommandLine, NamesTheFlagAndTheAllowedValuesOfAMistake) {
  EXPECT_THAT(refused({"allreduce"}), AllOf(HasSubstr("allreduce"), HasSubstr("all_reduce")));
  EXPECT_THAT(refused({"all_reduce", "-d", "fp32"}),
              AllOf(HasSubstr("--datatype"), HasSubstr("fp32"), HasSubstr("float")));
  EXPECT_THAT(refused({"all_reduce", "--op", "add"}),
              AllOf(HasSubstr("--op"), HasSubstr("add"), HasSubstr("mulsum")));
  EXPECT_THAT(refused({"all_reduce", "-b", "10X"}),
              AllOf(HasSubstr("--minbytes"), HasSubstr("10X"), HasSubstr("K, M or G")));
  EXPECT_THAT(refused({"all_reduce", "-n", "0"}),
              AllOf(HasSubstr("--iters"), HasSubstr("from 1"), HasSubstr("'0'")));
  EXPECT_THAT(refused({"all_reduce", "-a", "4"}),
              AllOf(HasSubstr("--average"), HasSubstr("from 0 to 3")));
  EXPECT_THAT(refused({"all_reduce", "-r", "first"}), HasSubstr("--root"));
  EXPECT_THAT(refused({"all_reduce", "-w", "5x"}), HasSubstr("--warmup_iters"));
}

TEST(CommandLine, RefusesWhatWouldNeverEndOrNeverStart) {
  EXPECT_THAT(refused({"all_reduce", "-b", "64M"}),
              AllOf(HasSubstr("--minbytes 64M"), HasSubstr("--maxbytes 32M")));
  EXPECT_THAT(refused({"all_reduce", "-b", "0", "-f", "2"}), HasSubstr("--stepfactor"));
  EXPECT_THAT(refused({"all_reduce", "-b", "0", "-i", "0"}), HasSubstr("--stepbytes"));
  EXPECT_THAT(refused({"all_reduce", "-t", "2"}), AllOf(HasSubstr("--nthreads"), HasSubstr("-g")));
  EXPECT_THAT(refused({"all_reduce", "--bogus"}), HasSubstr("--bogus"));
  EXPECT_THAT(refused({}), HasSubstr("COLLECTIVE"));
}

}  // namespace
}  // namespace rocelane::collperf
