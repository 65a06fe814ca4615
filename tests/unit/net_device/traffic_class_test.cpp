#include "net/device/traffic_class.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace rocelane::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TrafficClasses resolved(const Environment& environment,
                        std::optional<uint8_t> communicator = std::nullopt) {
  return resolve_traffic_classes(settings_with(environment), communicator);
}

TEST(TrafficClass, IsTheSettingBeforeTheCommunicatorsBeforeZero) {
  EXPECT_EQ(resolved({{"NCCL_IB_TC", "106"}}, 40).data.value, 106);
  EXPECT_EQ(resolved({{"NCCL_IB_TC", "106"}}, 40).data.source, "NCCL_IB_TC=106");
  EXPECT_EQ(resolved({}, 40).data.value, 40);
  EXPECT_EQ(resolved({}, 40).data.source, "the communicator's trafficClass");
  EXPECT_EQ(resolved({}).data.value, 0);
  EXPECT_FALSE(resolved({}).data.is_explicit);
  EXPECT_EQ(resolved({{"NCCL_IB_TC", "-1"}}, 40).data.value, 40);
}

TEST(TrafficClass, OfZeroCanBeAskedForExplicitly) {
  const TrafficClasses classes = resolved({{"ROCELANE_TRAFFIC_CLASS", "0"}}, 40);
  EXPECT_EQ(classes.data.value, 0);
  EXPECT_TRUE(classes.data.is_explicit);
}

TEST(TrafficClass, OfControlFollowsDataUnlessSet) {
  EXPECT_EQ(resolved({{"NCCL_IB_TC", "106"}}).control.value, 106);
  EXPECT_FALSE(resolved({{"NCCL_IB_TC", "106"}}).control.is_explicit);
  EXPECT_EQ(resolved({{"NCCL_IB_TC", "106"}, {"NCCL_IB_FIFO_TC", "192"}}).control.value, 192);
}

TEST(TrafficClass, IsDescribedAsDscpAndEcn) {
  EXPECT_EQ(describe_traffic_class(106), "106 (DSCP 26, ECN ECT(0))");
  EXPECT_EQ(describe_traffic_class(105), "105 (DSCP 26, ECN ECT(1))");
  EXPECT_EQ(describe_traffic_class(0), "0 (DSCP 0, ECN not capable)");
  EXPECT_EQ(describe_traffic_class(255), "255 (DSCP 63, ECN CE)");
  EXPECT_EQ(describe(resolved({{"NCCL_IB_TC", "106"}})),
            "traffic class 106 (DSCP 26, ECN ECT(0)) from NCCL_IB_TC=106, control the same");
  EXPECT_THAT(describe(resolved({{"NCCL_IB_FIFO_TC", "194"}})),
              HasSubstr("control 194 (DSCP 48, ECN ECT(0)) from NCCL_IB_FIFO_TC=194"));
}

TEST(TrafficClass, IsTheSameAtBothEndsWhateverTheyOffer) {
  const std::vector<Environment> ends{{},
                                      {{"NCCL_IB_TC", "106"}},
                                      {{"NCCL_IB_TC", "0"}},
                                      {{"NCCL_IB_FIFO_TC", "192"}},
                                      {{"NCCL_IB_TC", "106"}, {"NCCL_IB_FIFO_TC", "192"}},
                                      {{"NCCL_IB_TC", "41"}, {"NCCL_IB_FIFO_TC", "2"}}};
  for (const Environment& one : ends) {
    for (const Environment& other : ends) {
      const TrafficClasses here = resolved(one);
      const TrafficClasses there = resolved(other);
      const auto agreed_here = agree_on_traffic_classes(here, offer_of(there));
      const auto agreed_there = agree_on_traffic_classes(there, offer_of(here));
      ASSERT_EQ(agreed_here.ok(), agreed_there.ok());
      if (agreed_here.ok()) {
        EXPECT_EQ(*agreed_here, *agreed_there);
      }
    }
  }
}

AgreedTrafficClasses agreed(const Environment& here, const Environment& there) {
  const auto result = agree_on_traffic_classes(resolved(here), offer_of(resolved(there)));
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : AgreedTrafficClasses{255, 255};
}

TEST(TrafficClass, OfTheOneExplicitEndRulesBothDirections) {
  const AgreedTrafficClasses expected{106, 106};
  EXPECT_EQ(agreed({{"NCCL_IB_TC", "106"}}, {}), expected);
  EXPECT_EQ(agreed({}, {{"NCCL_IB_TC", "106"}}), expected);
  EXPECT_EQ(agreed({}, {{"NCCL_IB_TC", "0"}}), (AgreedTrafficClasses{0, 0}));
}

TEST(TrafficClass, OfControlFollowsTheAgreedDataClass) {
  EXPECT_EQ(agreed({{"NCCL_IB_TC", "106"}}, {{"NCCL_IB_FIFO_TC", "192"}}),
            (AgreedTrafficClasses{106, 192}));
  EXPECT_EQ(agreed({}, {}), (AgreedTrafficClasses{0, 0}));
}

TEST(TrafficClass, IsAnErrorWhenTwoExplicitOnesDiffer) {
  const auto result = agree_on_traffic_classes(resolved({{"NCCL_IB_TC", "106"}}),
                                               offer_of(resolved({{"NCCL_IB_TC", "41"}})));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().what, AllOf(HasSubstr("for data"),
                                         HasSubstr("106 (DSCP 26, ECN ECT(0)) from NCCL_IB_TC=106"),
                                         HasSubstr("the peer 41 (DSCP 10, ECN ECT(1))")));
  const auto control = agree_on_traffic_classes(resolved({{"NCCL_IB_FIFO_TC", "192"}}),
                                                offer_of(resolved({{"NCCL_IB_FIFO_TC", "194"}})));
  ASSERT_FALSE(control.ok());
  EXPECT_THAT(control.error().what, HasSubstr("for control"));
}

TEST(TrafficClass, OfAnOddPeerNeverEndsInDifferentResults) {
  // A peer may claim a control class that is neither explicit nor its data class.
  const auto result = agree_on_traffic_classes(resolved({}), {106, 7, true, false});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, (AgreedTrafficClasses{106, 106}));
}

std::string caution(int value) {
  const TrafficClassChoice choice{static_cast<uint8_t>(value), true, "NCCL_IB_TC"};
  return traffic_class_caution(choice).value_or("");
}

TEST(TrafficClassCaution, IsGivenForCongestionMarksAndNotForClassesThatManyUse) {
  EXPECT_THAT(caution(107), HasSubstr("set 106"));
  EXPECT_EQ(caution(104), "") << "the NIC or the fabric may set ECN itself";
  EXPECT_EQ(caution(106), "");
  EXPECT_EQ(caution(105), "");
  EXPECT_EQ(caution(0), "");
}

TEST(TrafficClassCaution, IsGivenForWhatLooksLikeABareDscp) {
  EXPECT_THAT(caution(26), HasSubstr("if DSCP 26 is meant, set 106"));
  EXPECT_THAT(caution(46), HasSubstr("if DSCP 46 is meant, set 186"));
}

TEST(TrafficClassCaution, IsNotGivenForADefault) {
  EXPECT_EQ(traffic_class_caution({3, false, "the default"}), std::nullopt);
}

std::string note(int value) {
  const TrafficClassChoice choice{static_cast<uint8_t>(value), true, "NCCL_IB_TC"};
  return traffic_class_note(choice).value_or("");
}

TEST(TrafficClassNote, IsGivenWhereSwitchesCannotMark) {
  EXPECT_THAT(note(104), AllOf(HasSubstr("104 (DSCP 26, ECN not capable) from NCCL_IB_TC"),
                               HasSubstr("DCQCN"), HasSubstr("106 lets them mark")));
  EXPECT_EQ(note(105), "");
  EXPECT_EQ(note(106), "");
}

TEST(TrafficClassNote, IsNotGivenBesideACautionOrOfZeroOrADefault) {
  EXPECT_EQ(note(107), "") << "a caution says it";
  EXPECT_EQ(note(24), "") << "a caution says it";
  EXPECT_EQ(note(0), "");
  EXPECT_EQ(traffic_class_note({104, false, "the default"}), std::nullopt);
}

}  // namespace
}  // namespace rocelane::net
