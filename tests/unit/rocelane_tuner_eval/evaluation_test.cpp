#include "tuner_eval/evaluation.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rocelane::tuner_eval {
namespace {

using testing::HasSubstr;
using tuner::Choice;
using tuner::Grid;
using tuner::Grids;
using tuner::SizeTimes;

const std::vector<int> kChannels{1, 2, 4, 8};

// Latency and bandwidth of a made-up fabric: tree for small sizes, ring for large ones.
double time_us(const Choice& choice, uint64_t bytes) {
  const bool is_ring = choice.algorithm == "RING";
  const double gigabytes_per_s = (is_ring ? 10.0 : 4.0) * choice.channels;
  return (is_ring ? 80 : 20) + choice.channels + static_cast<double>(bytes) / 1e3 / gigabytes_per_s;
}

// NCCL leaves the tree four times too late.
Choice by_default(uint64_t bytes) {
  return {bytes < (uint64_t{1} << 23) ? "TREE" : "RING", "SIMPLE", 8};
}

Grid made_up_grid() {
  Grid grid;
  for (unsigned shift = 12; shift <= 28; ++shift) {
    const uint64_t bytes = uint64_t{1} << shift;
    SizeTimes& size = grid[bytes];
    for (const char* algorithm : {"RING", "TREE"}) {
      for (const int channels : kChannels) {
        const Choice choice{algorithm, "SIMPLE", channels};
        size.time_us[choice] = time_us(choice, bytes);
      }
    }
    size.by_default = tuner::DefaultRun{by_default(bytes), time_us(by_default(bytes), bytes)};
  }
  return grid;
}

Grids made_up_grids() { return {{{"made up", "AllReduce", 2, 16}, made_up_grid()}}; }

Options with(Policy policy) {
  Options options;
  options.policy = policy;
  options.draws = 1;
  return options;
}

tuner::Regret regret(const Grids& grids, const Options& options) {
  return *regret_of(evaluate(grids, options).groups);
}

TEST(TunerEval, TheDefaultMeasuresAndSwitchesNothing) {
  const Report report = evaluate(made_up_grids(), with(Policy::kDefault));
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].runs, 0U);
  for (const SizeResult& size : report.groups[0].sizes) {
    EXPECT_FALSE(size.chosen.has_value());
    EXPECT_EQ(size.outcome.chosen_us, size.outcome.default_us);
  }
  EXPECT_GT(regret(made_up_grids(), with(Policy::kDefault)).geometric, 0.01);
}

TEST(TunerEval, ACompleteTableIsNearlyTheBest) {
  const tuner::Regret all = regret(made_up_grids(), with(Policy::kTable));
  EXPECT_LT(all.worst, 0.021);  // gains below the table's margin are left
  EXPECT_EQ(all.worst_switch, 0);
}

TEST(TunerEval, ATableOfEverySecondSizeMeasuresHalfAndNeverHarms) {
  Options options = with(Policy::kTable);
  options.train_every = 2;
  const Report half = evaluate(made_up_grids(), options);
  EXPECT_EQ(half.groups[0].choices_measured, 9U * 8);
  const tuner::Regret all = *regret_of(half.groups);
  EXPECT_EQ(all.worse_share, 0);
  EXPECT_LE(all.geometric, regret(made_up_grids(), with(Policy::kDefault)).geometric);
}

TEST(TunerEval, ATableWithNothingMeasuredHereLeavesTheDefault) {
  Options options = with(Policy::kTable);
  options.train_every = 1000;  // only the smallest size is measured
  const Report report = evaluate(made_up_grids(), options);
  for (size_t place = 1; place < report.groups[0].sizes.size(); ++place) {
    EXPECT_FALSE(report.groups[0].sizes[place].chosen.has_value());
  }
}

TEST(TunerEval, ASearchMeasuresAtMostTenChoicesOfASize) {
  const Report report = evaluate(made_up_grids(), with(Policy::kSearch));
  EXPECT_LE(report.groups[0].choices_measured, 10 * report.groups[0].sizes.size());
  EXPECT_LT(regret_of(report.groups)->worst, 0.01);
}

TEST(TunerEval, ASearchBeginsSomewhereWhereTheDefaultIsUnknown) {
  Grids grids = made_up_grids();
  for (auto& [bytes, size] : grids.begin()->second) {
    size.by_default->choice = {"DEFAULT", "DEFAULT", 0};
  }
  EXPECT_LT(regret(grids, with(Policy::kSearch)).worst, 0.01);
}

TEST(TunerEval, NoiseDoesNotMakeHarmfulSwitches) {
  for (const Policy policy : {Policy::kTable, Policy::kSearch}) {
    Options options = with(policy);
    options.noise_percent = 3;
    options.draws = 50;
    options.seed = 7;
    SCOPED_TRACE(testing::Message() << "seed " << options.seed);
    const tuner::Regret all = regret(made_up_grids(), options);
    EXPECT_EQ(all.sizes, 50U * 17);
    EXPECT_LT(all.worst_switch, 0.02);
    EXPECT_LT(all.geometric, 0.01);
  }
}

TEST(TunerEval, TheSameSeedGivesTheSameResult) {
  Options options = with(Policy::kSearch);
  options.noise_percent = 10;
  options.draws = 3;
  EXPECT_EQ(regret(made_up_grids(), options).geometric, regret(made_up_grids(), options).geometric);
}

TEST(TunerEval, LeavesOutAndCountsWhatCannotBeJudged) {
  Grids grids = made_up_grids();
  grids.begin()->second.begin()->second.by_default.reset();
  grids[{"other", "AllGather", 0, 0}][64].by_default = tuner::DefaultRun{{"RING", "LL", 1}, 5};
  const Report report = evaluate(grids, with(Policy::kTable));
  EXPECT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.left_out, 2U);
  EXPECT_EQ(report.groups[0].sizes.size(), 16U);
}

TEST(TunerEval, ToleratesHolesAndOddSizes) {
  Grids grids = made_up_grids();
  Grid& grid = grids.begin()->second;
  grid[5000] = grid.at(4096);
  grid.at(1 << 20).time_us.erase({"RING", "SIMPLE", 4});
  grid.at(1 << 22).time_us.erase(by_default(1 << 22));
  for (const Policy policy : {Policy::kTable, Policy::kSearch}) {
    Options options = with(policy);
    options.train_every = policy == Policy::kTable ? 3 : 1;
    EXPECT_EQ(regret(grids, options).worse_share, 0);
  }
}

TEST(TunerEval, ReportsAsTextAndAsJson) {
  const Options options = with(Policy::kSearch);
  const Report report = evaluate(made_up_grids(), options);
  const tuner::Regret all = *regret_of(report.groups);
  EXPECT_THAT(text_report(options, report, all), HasSubstr("made up AllReduce 2x16"));
  const auto json = nlohmann::json::parse(json_report(options, report, all));
  EXPECT_EQ(json["policy"], "search");
  EXPECT_EQ(json["regret"]["sizes"], 17);
  EXPECT_EQ(json["groups"][0]["results"].size(), 17U);
  EXPECT_DOUBLE_EQ(json["regret"]["geometric"].get<double>(), all.geometric);
}

}  // namespace
}  // namespace rocelane::tuner_eval
