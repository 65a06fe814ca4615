#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file that is there: what it holds is not looked at.
std::string some_file() { return "/proc/self/exe"; }

Result<Options> read(std::vector<std::string> arguments) {
  CommandLine line;
  CLI::App app("test", "bench");
  declare_options(app, line);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument, error.what()};
  }
  return interpret(line);
}

std::string refusal(const std::vector<std::string>& arguments) {
  const Result<Options> options = read(arguments);
  return options ? "it was taken" : options.error().what;
}

TEST(BenchOptions, WithoutAnyMeasureSizesOfRocelane) {
  const Result<Options> options = read({});
  ASSERT_TRUE(options) << options.error().what;
  EXPECT_EQ(options->net.plugin, "rocelane");
  EXPECT_EQ(options->subject, Subject::kSizes);
  EXPECT_FALSE(options->rival);
  EXPECT_FALSE(options->lanes);
  EXPECT_EQ(options->window, 8);
  EXPECT_THAT(options->sizes, ElementsAre(8, 256, 4096, 32768, 131072, 524288, 4194304));
}

TEST(BenchOptions, AreReadAsWritten) {
  const Result<Options> options =
      read({"--vs", "ib", "--sizes", "64,4K,1M", "--lanes", "3", "--devices", "a+b,c+d",
            "--connections", "5", "--counts", "--messages", "77", "--no-callgrind"});
  ASSERT_TRUE(options) << options.error().what;
  EXPECT_EQ(options->rival, "ib");
  EXPECT_THAT(options->sizes, ElementsAre(64, 4096, 1048576));
  EXPECT_EQ(options->lanes, 3);
  EXPECT_THAT(options->devices, ElementsAre("a+b", "c+d"));
  EXPECT_EQ(options->connections, 5);
  EXPECT_TRUE(options->counts);
  EXPECT_EQ(options->messages, 77);
  EXPECT_FALSE(options->callgrind);
}

TEST(BenchOptions, NameOtherMeasurements) {
  const Result<Options> idle = read({"--idle", "256", "--counts"});
  ASSERT_TRUE(idle) << idle.error().what;
  EXPECT_EQ(idle->subject, Subject::kIdle);
  EXPECT_EQ(idle->connections, 256);
  const Result<Options> set_up = read({"--setup", "512"});
  ASSERT_TRUE(set_up) << set_up.error().what;
  EXPECT_EQ(set_up->subject, Subject::kSetUp);
  EXPECT_EQ(set_up->connections, 512);
  const Result<Options> spread =
      read({"--spread", "100", "--fabric", some_file(), "--traffic", "all-to-all"});
  ASSERT_TRUE(spread) << spread.error().what;
  EXPECT_EQ(spread->subject, Subject::kSpread);
  EXPECT_EQ(spread->seeds, 100);
  EXPECT_EQ(spread->messages, 2000);
  EXPECT_EQ(spread->traffic, nccl_host::Traffic::kAllToAll);
  EXPECT_THAT(spread->sizes, ElementsAre(262144));
  const Result<Options> loaded = read({"--under-load", "4M", "--sizes", "8"});
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(loaded->load_bytes, 4194304U);
}

TEST(BenchOptions, ThatMakeNoSenseAreRefusedWithASentence) {
  EXPECT_THAT(refusal({"--sizes", "12Q"}), HasSubstr("'12Q' is not a size"));
  EXPECT_THAT(refusal({"--sizes", "0"}), HasSubstr("'0' is not a size"));
  EXPECT_THAT(refusal({"--under-load", "x"}), HasSubstr("--under-load 'x' is not a size"));
  EXPECT_THAT(refusal({"--net", "ib", "--vs", "ib"}), HasSubstr("compare the net with itself"));
  EXPECT_THAT(refusal({"--devices", "a"}), HasSubstr("names 1 places; name two"));
  EXPECT_THAT(refusal({"--devices", "a,b", "--rails", "2"}), HasSubstr("--rails chooses"));
  EXPECT_THAT(refusal({"--idle", "0"}), HasSubstr("--idle"));
  EXPECT_THAT(refusal({"--connections", "-1"}), HasSubstr("--connections"));
  EXPECT_THAT(refusal({"--traffic", "pair"}), HasSubstr("'pair' is unknown"));
  EXPECT_THAT(refusal({"--fabric", "/no/such/file"}), HasSubstr("/no/such/file"));
  EXPECT_THAT(refusal({"--profiles", "/no/such/folder"}), HasSubstr("/no/such/folder"));
}

TEST(BenchOptions, ThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(refusal({"--idle", "3", "--setup", "3"}), HasSubstr("ask for one of them"));
  EXPECT_THAT(refusal({"--setup", "3", "--counts"}), HasSubstr("--counts counts messages"));
  EXPECT_THAT(refusal({"--under-load", "4M", "--counts"}), HasSubstr("--counts counts messages"));
  EXPECT_THAT(refusal({"--profiles", testing::TempDir()}), HasSubstr("add --counts"));
  EXPECT_THAT(refusal({"--idle", "3", "--under-load", "4M"}), HasSubstr("--under-load measures"));
  EXPECT_THAT(refusal({"--spread", "3"}), HasSubstr("needs a fabric"));
  EXPECT_THAT(refusal({"--spread", "3", "--fabric", some_file(), "--sizes", "8,16"}),
              HasSubstr("one size"));
  EXPECT_THAT(refusal({"--setup", "3", "--fabric", some_file()}), HasSubstr("leave --fabric out"));
}

}  // namespace
}  // namespace rocelane::bench
