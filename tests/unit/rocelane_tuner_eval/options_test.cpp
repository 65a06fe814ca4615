#include "tuner_eval/options.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocelane::tuner_eval {
namespace {

using testing::HasSubstr;

CommandLine with_policy(const std::string& policy) {
  CommandLine line;
  line.policy = policy;
  return line;
}

TEST(TunerEvalOptions, KnowsItsPoliciesByName) {
  EXPECT_EQ(interpret(with_policy("default"))->policy, Policy::kDefault);
  EXPECT_EQ(interpret(with_policy("table"))->policy, Policy::kTable);
  EXPECT_EQ(interpret(with_policy("search"))->policy, Policy::kSearch);
  const Result<Options> refused = interpret(with_policy("oracle"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("oracle"));
  EXPECT_THAT(refused.error().what, HasSubstr("default, table or search"));
}

TEST(TunerEvalOptions, TrainsOnlyATable) {
  CommandLine line = with_policy("search");
  line.options.train_every = 2;
  ASSERT_FALSE(interpret(line).ok());
  line.policy = "table";
  EXPECT_EQ(interpret(line)->train_every, 2);
}

TEST(TunerEvalOptions, DrawsOnceWithoutNoise) {
  CommandLine line;
  EXPECT_EQ(interpret(line)->draws, 1);
  line.options.noise_percent = 3;
  EXPECT_GT(interpret(line)->draws, 1);
}

TEST(TunerEvalOptions, NeedsAGridThatIsThere) {
  CommandLine line;
  CLI::App app("test", "tuner-eval");
  declare_options(app, line);
  EXPECT_THROW(app.parse(std::vector<std::string>{}), CLI::ParseError);
  EXPECT_THROW(app.parse(std::vector<std::string>{"/nowhere/grid.csv", "--grid"}), CLI::ParseError);
}

}  // namespace
}  // namespace rocelane::tuner_eval
