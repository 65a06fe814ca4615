#include "nccl_host/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::nccl_host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Options good(const std::vector<std::string>& arguments) {
  const Result<CommandLine> parsed = parse_command_line(arguments);
  EXPECT_TRUE(parsed) << parsed.error().what;
  return parsed ? *parsed->options : Options{};
}

std::string mistake(const std::vector<std::string>& arguments) {
  const Result<CommandLine> parsed = parse_command_line(arguments);
  EXPECT_FALSE(parsed);
  return parsed ? std::string() : parsed.error().what;
}

TEST(Options, StandForAPairOfRanksOfOurPlugin) {
  const Options options = good({});
  EXPECT_EQ(options.net.plugin, "rocelane");
  EXPECT_EQ(options.net.abi, 0);
  EXPECT_EQ(options.life.ranks, 2);
  EXPECT_EQ(options.life.window, 8);
  EXPECT_EQ(options.traffic, Traffic::kPair);
  EXPECT_EQ(options.plan.mix, Mix::kAll);
  EXPECT_EQ(options.life.threading, Threading::kThreads);
}

TEST(Options, AreUnderstood) {
  const Options options = good({"--net",
                                "ib",
                                "--ranks",
                                "4",
                                "--devices",
                                "0,host2/soft_1,0,1",
                                "--traffic",
                                "all-to-all",
                                "--sizes",
                                "0,64K,1M",
                                "--protocol",
                                "ll128",
                                "--group",
                                "3",
                                "--clock",
                                "rounds",
                                "--seed",
                                "9",
                                "--memory",
                                "host",
                                "--flush",
                                "always",
                                "--abort-after",
                                "7",
                                "--traffic-class",
                                "104",
                                "--deadline",
                                "2.5",
                                "--no-optional-completions"});
  EXPECT_THAT(options.life.devices, ElementsAre("0", "host2/soft_1", "0", "1"));
  EXPECT_EQ(options.traffic, Traffic::kAllToAll);
  EXPECT_THAT(options.plan.sizes, ElementsAre(0, 65536, 1048576));
  EXPECT_EQ(options.plan.protocol, Protocol::kLl128);
  EXPECT_EQ(options.plan.group, 3);
  EXPECT_EQ(options.life.group, 3);
  EXPECT_EQ(options.life.threading, Threading::kRounds);
  EXPECT_EQ(options.plan.seed, 9U);
  EXPECT_EQ(options.life.seed, 9U);
  EXPECT_EQ(options.life.memory, MemoryChoice::kHost);
  EXPECT_EQ(options.life.flush, true);
  EXPECT_EQ(options.life.abort_after, 7U);
  EXPECT_EQ(options.life.traffic_class, 104);
  EXPECT_EQ(options.life.patience_s, 2.5);
  EXPECT_FALSE(options.life.optional_completions);
}

TEST(Options, CountWarmUpOnTop) {
  const Options options = good({"--messages", "100", "--warm-up", "10", "--group", "4"});
  EXPECT_EQ(options.plan.messages, 140);
}

TEST(Options, GetOneSentenceWhenWrong) {
  EXPECT_THAT(mistake({"--ranks", "1"}), HasSubstr("--ranks"));
  EXPECT_THAT(mistake({"--traffic", "star"}),
              HasSubstr("'star' is unknown; allowed are all-to-all, exchange, pair, ring."));
  EXPECT_EQ(mistake({"--sizes", "12Q"}),
            "--sizes '12Q' is not a size from 0 to 1G; write 64, 4K or 1M.");
  EXPECT_EQ(mistake({"--devices", "0"}),
            "--devices names 1 devices for 2 ranks; name one for each.");
  EXPECT_THAT(mistake({"--fabric", "/dev/null"}), HasSubstr("add --clock virtual"));
  EXPECT_THAT(mistake({"--compare", "--net", "ib"}), HasSubstr("name the plugin with --net"));
  EXPECT_THAT(mistake({"--nonsense"}), HasSubstr("nonsense"));
}

TEST(Expectations, AreNumbersOrRanges) {
  const Options options = good({"--expect", "send_posts=2", "--expect", "polls=1..3.5"});
  ASSERT_EQ(options.expectations.size(), 2U);
  EXPECT_EQ(options.expectations[0].name, "send_posts");
  EXPECT_EQ(options.expectations[0].least, 2);
  EXPECT_EQ(options.expectations[0].most, 2);
  EXPECT_EQ(options.expectations[1].most, 3.5);
  EXPECT_THAT(mistake({"--expect", "doorbells=2"}), HasSubstr("allowed are send_requests, sends,"));
  EXPECT_THAT(mistake({"--expect", "polls"}), HasSubstr("write polls=2 or polls=1..3"));
}

TEST(Sizes, AreReadWithPowersOf1024) {
  EXPECT_EQ(parse_size_bytes("17"), 17U);
  EXPECT_EQ(parse_size_bytes("4K"), 4096U);
  EXPECT_EQ(parse_size_bytes("2M"), 2097152U);
  for (const char* text : {"", "K", "-1", "4k", "1.5M", "99999999999999999999"}) {
    EXPECT_EQ(parse_size_bytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rocelane::nccl_host
