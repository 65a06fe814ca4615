#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/report.h"
#include "reports.h"

namespace rocelane::bench {
namespace {

TEST(BenchJson, HoldsMediansAndQuartilesOfEveryNet) {
  const auto json = nlohmann::json::parse(json_report(options_of_sizes(), report_of_sizes()));
  ASSERT_EQ(json["nets"].size(), 2U);
  EXPECT_EQ(json["nets"][1]["name"], "IB");
  const nlohmann::json& size = json["nets"][1]["sizes"][0];
  EXPECT_EQ(size["bytes"], 8);
  EXPECT_EQ(size["latency_us"]["median"], 4.0);
  EXPECT_EQ(size["latency_us"]["first_quartile"], 3.8);
  EXPECT_EQ(size["messages_per_s"]["median"], 500.0);
  EXPECT_FALSE(json["nets"][0].contains("counts"));
  EXPECT_TRUE(json["lanes"].is_null());
}

TEST(BenchJson, HoldsTotalsAndWhatToDivideThemBy) {
  Report report = report_of_sizes();
  report.nets[0].counts.push_back({8, 100, Counts{200, 150, 100, 2, 201, 300, 99}, std::nullopt});
  report.why_no_instructions = "no valgrind";
  const auto json = nlohmann::json::parse(json_report(options_of_sizes(), report));
  const nlohmann::json& count = json["nets"][0]["counts"][0];
  EXPECT_EQ(count["counted"], 100);
  EXPECT_EQ(count["counts"]["send_posts"], 150);
  EXPECT_TRUE(count["instructions"].is_null());
  EXPECT_EQ(json["why_no_instructions"], "no valgrind");
}

TEST(BenchJson, HoldsTheOtherMeasurements) {
  Report report = report_of_sizes();
  report.nets[0].idle = IdleResult{{90, 100, 110}, {40, 50, 60}, {}, {}};
  report.nets[0].set_up = SetUpResult{{0.1, 0.25, 0.3}, {1, 2, 3}, {4, 5, 6}};
  report.nets[0].fullest_to_mean = {1.25, 1.5};
  const auto json = nlohmann::json::parse(json_report(options_of_sizes(), report));
  const nlohmann::json& net = json["nets"][0];
  EXPECT_EQ(net["idle"]["sends_ns"]["median"], 50.0);
  EXPECT_EQ(net["set_up"]["seconds"]["median"], 0.25);
  EXPECT_EQ(net["set_up"]["shared_bytes_of_a_connection"]["third_quartile"], 6.0);
  EXPECT_EQ(net["fullest_path_to_mean"].size(), 2U);
}

}  // namespace
}  // namespace rocelane::bench
