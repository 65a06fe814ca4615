#include "base/settings_names.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings_nccl_names.h"
#include "base/settings_table.h"

namespace rocelane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string verdict(std::string_view name, std::string_view value = "1") {
  return judge_unknown_name(name, value).value_or("");
}

TEST(UnknownName, OfOursGetsTheNearestRightOne) {
  EXPECT_THAT(verdict("ROCELANE_TRAFIC_CLASS"), HasSubstr("did you mean ROCELANE_TRAFFIC_CLASS?"));
  EXPECT_THAT(verdict("ROCELANE_LANE"), HasSubstr("did you mean ROCELANE_LANES?"));
  EXPECT_THAT(verdict("ROCELANE_TIMEOUT"), HasSubstr("did you mean ROCELANE_ACK_TIMEOUT?"));
}

TEST(UnknownName, OfOursIsReportedEvenWhenNothingIsNear) {
  EXPECT_THAT(verdict("ROCELANE_QQQQQQQQQQ"), HasSubstr("docs/settings.md"));
  EXPECT_THAT(verdict("ROCELANE_" + std::string(100000, 'X')), HasSubstr("docs/settings.md"));
}

TEST(UnknownName, OfNcclIsFineWhenNcclHasIt) {
  for (const std::string_view name : {"NCCL_IB_SUBNET_AWARE_ROUTING", "NCCL_IB_MERGE_NICS",
                                      "NCCL_IB_DISABLE", "NCCL_SOCKET_NTHREADS"}) {
    EXPECT_EQ(verdict(name), "") << name;
  }
}

TEST(UnknownName, OfNcclIsFineWhenItResemblesNothing) {
  EXPECT_EQ(verdict("NCCL_IB_SOMETHING_FROM_TOMORROW"), "");
  EXPECT_EQ(verdict("NCCL_DEBUG"), "");
  EXPECT_EQ(verdict("PATH"), "");
  EXPECT_EQ(verdict(""), "");
}

TEST(UnknownName, ThatIsAMisspeltAliasGetsTheRightOne) {
  EXPECT_THAT(verdict("NCCL_IB_GID_INDX"), HasSubstr("did you mean NCCL_IB_GID_INDEX?"));
  EXPECT_THAT(verdict("NCCL_SOCKET_IFNAME-"), HasSubstr("did you mean NCCL_SOCKET_IFNAME?"));
  EXPECT_THAT(verdict("NCCL_IB_TC "), HasSubstr("did you mean NCCL_IB_TC?"));
}

TEST(UnknownName, ForTheTosByteIsLedToTheTrafficClass) {
  EXPECT_THAT(verdict("NCCL_IB_TOS", "46"), HasSubstr("set NCCL_IB_TC=184"));
  EXPECT_THAT(verdict("NCCL_IB_TOS", "184"), HasSubstr("NCCL_IB_TC"));
  EXPECT_THAT(verdict("NCCL_IB_TOS", "x"), Not(HasSubstr("DSCP 0")));
}

TEST(UnknownName, OfTheLabAndTheTestsIsNotOurs) {
  for (const std::string_view name : {"ROCELANE_LAB_ANYTHING", "ROCELANE_SETUP_DEVICE",
                                      "ROCELANE_CHAOS_SEEDS", "ROCELANE_CONTRACT_DEVICE"}) {
    EXPECT_EQ(verdict(name), "") << name;
  }
}

TEST(UnknownName, MayBeAMisspeltNameOfTheFile) {
  EXPECT_THAT(verdict("ROCELANE_CONFIG"), HasSubstr("did you mean ROCELANE_CONFIG_FILE?"));
}

TEST(NamesOfNccl, AreNoneOfOursAndComeOnce) {
  std::set<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    names.insert(row.name);
    names.insert(row.alias);
  }
  for (const NameWithoutEffect& entry : names_without_effect()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(verdict(entry.name), "") << entry.name;
  }
  for (const std::string_view name : names_of_others()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(verdict(name), "") << name;
    EXPECT_FALSE(has_no_effect_here(name)) << name;
  }
}

TEST(ShownText, HasNoControlCharactersAndABoundedLength) {
  EXPECT_EQ(shown("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_LT(shown(std::string(1 << 20, 'x')).size(), 120u);
}

}  // namespace
}  // namespace rocelane
