#include "collperf/rank_layout.h"

#include <map>

#include <gmock/gmock.h>

namespace rocelane::collperf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Environment environment_of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(RankLayout, IsOneProcessWhenNothingIsSet) {
  const Result<RankLayout> layout = rank_layout_from(environment_of({}), 4);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->ranks(), 4);
  EXPECT_EQ(layout->rank_of(3), 3);
  EXPECT_TRUE(layout->prints());
}

TEST(RankLayout, FollowsTorchrunWithSeveralGpusAProcess) {
  const Result<RankLayout> layout = rank_layout_from(environment_of({{"RANK", "3"},
                                                                     {"WORLD_SIZE", "4"},
                                                                     {"LOCAL_RANK", "1"},
                                                                     {"MASTER_ADDR", "10.0.0.1"},
                                                                     {"MASTER_PORT", "1234"}}),
                                                     2);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->ranks(), 8);
  EXPECT_EQ(layout->rank_of(1), 7);
  EXPECT_EQ(layout->device_of(1), 3);
  EXPECT_EQ(layout->meeting_host, "10.0.0.1");
  EXPECT_EQ(layout->meeting_port, 1234);
  EXPECT_FALSE(layout->prints());
}

TEST(RankLayout, NamesTheVariableThatIsWrong) {
  EXPECT_THAT(rank_layout_from(environment_of({{"WORLD_SIZE", "2"}}), 1).error().what,
              AllOf(HasSubstr("RANK is not set"), HasSubstr("0 ... 1")));
  EXPECT_THAT(
      rank_layout_from(environment_of({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), 1).error().what,
      AllOf(HasSubstr("RANK=2"), HasSubstr("from 0 to 1")));
  EXPECT_THAT(rank_layout_from(environment_of({{"MASTER_PORT", "http"}}), 1).error().what,
              HasSubstr("MASTER_PORT=http"));
}

}  // namespace
}  // namespace rocelane::collperf
