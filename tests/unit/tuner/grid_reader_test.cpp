#include "tuner/grid/grid_reader.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/grid/csv_line.h"

namespace rocelane::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHeader =
    "source,cluster,collective,nodes,ranks,bytes,algo,proto,channels,time_us,config\n";

std::string refusal(const std::string& rows) {
  const Result<Grids> grids = read_grids(rows, "grid.csv");
  return grids.ok() ? "" : grids.error().what;
}

TEST(CsvLine, KeepsCommasAndQuotesInsideQuotes) {
  EXPECT_THAT(*split_csv_line(R"(a,"b, c",,"d ""e""")"), ElementsAre("a", "b, c", "", "d \"e\""));
  EXPECT_FALSE(split_csv_line("a,\"b").has_value());
}

TEST(GridReader, KeepsForcedTimesAndTheDefaultApart) {
  const auto grids = read_grids(kHeader +
                                    "x,c,AllReduce,2,16,4096,ring,LL,4,50,forced\r\n"
                                    "x,c,AllReduce,2,16,4096,RING,LL,4,45.5,forced\n"
                                    "x,c,AllReduce,2,16,4096,TREE,LL,8,40,default\n"
                                    "\n"
                                    "x,c,AllReduce,2,16,8192,TREE,LL,min4 max16,60,forced\n",
                                "grid.csv");
  ASSERT_TRUE(grids.ok()) << grids.error().what;
  const Grid& grid = grids->at({"c", "AllReduce", 2, 16});
  EXPECT_EQ(grid.at(4096).time_us.at({"RING", "LL", 4}), 47.75);
  ASSERT_TRUE(grid.at(4096).by_default.has_value());
  EXPECT_EQ(grid.at(4096).by_default->choice, (Choice{"TREE", "LL", 8}));
  EXPECT_EQ(grid.at(4096).by_default->time_us, 40);
  EXPECT_EQ(grid.at(8192).time_us.at({"TREE", "LL", 0}), 60);
  EXPECT_FALSE(grid.at(8192).by_default.has_value());
}

TEST(GridReader, TakesTheMedianOfRepeats) {
  const auto grids = read_grids(kHeader +
                                    "x,c,AllReduce,2,16,4096,RING,LL,4,90,forced\n"
                                    "x,c,AllReduce,2,16,4096,RING,LL,4,10,forced\n"
                                    "x,c,AllReduce,2,16,4096,RING,LL,4,50,forced\n"
                                    "x,c,AllReduce,2,16,4096,TREE,LL,8,30,default\n"
                                    "x,c,AllReduce,2,16,4096,RING,LL,8,20,default\n"
                                    "x,c,AllReduce,2,16,4096,TREE,LL,8,40,default\n",
                                "grid.csv");
  ASSERT_TRUE(grids.ok()) << grids.error().what;
  const SizeTimes& size = grids->begin()->second.at(4096);
  EXPECT_EQ(size.time_us.at({"RING", "LL", 4}), 50);
  EXPECT_EQ(size.by_default->choice, (Choice{"TREE", "LL", 8}));
  EXPECT_EQ(size.by_default->time_us, 35);
}

TEST(GridReader, ReadsRowsThatDoNotStateNodesOrRanks) {
  const auto grids = read_grids(
      kHeader + "x,c,AllReduce,,8,4096,RING,,,90,forced\nx,c,AllReduce,2,,8,RING,,,9,f\n",
      "grid.csv");
  ASSERT_TRUE(grids.ok()) << grids.error().what;
  EXPECT_TRUE(grids->contains({"c", "AllReduce", 0, 8}));
  EXPECT_TRUE(grids->contains({"c", "AllReduce", 2, 0}));
}

TEST(GridReader, RefusesAWrongFileWithLineAndField) {
  struct Case {
    const char* row;
    const char* says;
  };
  for (const Case& each : {
           Case{"x,c,AllReduce,0,16,1,RING,LL,1,5,forced", "grid.csv:2: nodes is \"0\""},
           Case{"x,c,AllReduce,2,1,1,RING,LL,1,5,forced", "grid.csv:2: ranks is \"1\""},
           Case{"x,c,AllReduce,2,16,4K,RING,LL,1,5,forced", "grid.csv:2: bytes is \"4K\""},
           Case{"x,c,AllReduce,2,16,1,RING,LL,1,0,forced", "grid.csv:2: time_us is \"0\""},
           Case{"x,c,AllReduce,2,16,1,RING,LL,1,nan,forced", "grid.csv:2: time_us is \"nan\""},
           Case{"x,c,AllReduce,2,16,1,,LL,1,5,forced", "grid.csv:2: algo is \"\""},
           Case{"x,c,AllReduce", "grid.csv:2: has 3 fields instead of 11"},
           Case{"x,\"c,AllReduce", "grid.csv:2: a quoted field does not end"},
       }) {
    EXPECT_THAT(refusal(kHeader + each.row), HasSubstr(each.says)) << each.row;
  }
  EXPECT_THAT(refusal(kHeader + "x,c,AllReduce,2,16,4\x1b[31m,RING,LL,1,5,forced"),
              HasSubstr("bytes is \"4?[31m\" instead of"));
  EXPECT_THAT(refusal("cluster,nodes\n"),
              HasSubstr("grid.csv:1: the column collective is missing"));
  EXPECT_THAT(refusal(kHeader), HasSubstr("has no measurement"));
  EXPECT_THAT(refusal(""), HasSubstr("has no measurement"));
}

}  // namespace
}  // namespace rocelane::tuner
