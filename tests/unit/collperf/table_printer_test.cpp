#include "collperf/table_printer.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "collperf/json_report.h"

namespace rocelane::collperf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ResultRow sample_row() {
  ResultRow row;
  row.size_bytes = 1048576;
  row.count = 262144;
  row.type = "float";
  row.op = "sum";
  row.out_of_place = {123.456, 8.5, 12.75, 0};
  row.in_place = {12345.6, 0.085, 0.1275, std::nullopt};
  return row;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

TEST(Table, HasTheThirteenColumnsOfNcclTests) {
  EXPECT_THAT(words_of(row_line(sample_row())),
              testing::ElementsAre("1048576", "262144", "float", "sum", "-1", "123.5", "8.50",
                                   "12.75", "0", "12346", "0.09", "0.13", "N/A"));
}

TEST(Table, KeepsColumnsUnderTheirHeadings) {
  const std::string header = header_lines({}, {}, "2.28.9");
  std::istringstream lines(header);
  std::string headings;
  while (std::getline(lines, headings) && headings.find("redop") == std::string::npos) {
  }
  const std::string row = row_line(sample_row());
  EXPECT_EQ(headings.find("redop") + 5, row.find("sum") + 3);
  EXPECT_EQ(headings.find("size") + 4, row.find("1048576") + 7);
  EXPECT_EQ(headings.rfind("#wrong") + 6, row.find("N/A") + 3);
}

TEST(Table, BeginsEveryLineThatIsNoResultWithAHash) {
  RankPlace place;
  place.host = "host-a";
  place.pci_bus_id = "0000:10:00.0";
  place.device_name = "some GPU";
  std::istringstream lines(header_lines({}, {place}, "2.28.9") + footer_lines({}));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.substr(0, 1), "#") << line;
  }
}

TEST(Table, SumsUpAsNcclTestsDoes) {
  std::vector<ResultRow> rows{sample_row()};
  EXPECT_THAT(footer_lines(totals_of(rows)), AllOf(HasSubstr("# Out of bounds values : 0 OK"),
                                                   HasSubstr("# Avg bus bandwidth    : 6.43875")));
  rows[0].out_of_place.wrong = 3;
  EXPECT_THAT(footer_lines(totals_of(rows)), HasSubstr("# Out of bounds values : 3 FAILED"));
}

TEST(Table, DoesNotCallUncheckedResultsRight) {
  ResultRow row = sample_row();
  row.out_of_place.wrong.reset();
  EXPECT_THAT(footer_lines(totals_of({row})), HasSubstr("NOT CHECKED"));
}

TEST(JsonReport, HoldsTheRowsAndTheTotals) {
  const auto report =
      nlohmann::json::parse(json_report({}, {RankPlace{}}, "2.28.9", {sample_row()}));
  EXPECT_EQ(report["collective"], "all_reduce");
  EXPECT_EQ(report["ranks"].size(), 1U);
  EXPECT_EQ(report["rows"][0]["out_of_place"]["wrong"], 0);
  EXPECT_TRUE(report["rows"][0]["in_place"]["wrong"].is_null());
  EXPECT_EQ(report["rows"][0]["out_of_place"]["time_us"], 123.456);
  EXPECT_EQ(report["wrong"], 0);
}

TEST(JsonReport, NamesTheFileItCannotWrite) {
  const Status written = write_text_file("/nonexistent/report.json", "{}");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().what,
              AllOf(HasSubstr("/nonexistent/report.json"), HasSubstr("No such file or directory")));
}

}  // namespace
}  // namespace rocelane::collperf
