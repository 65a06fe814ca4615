#include "net/transfer/stripe_immediate.h"

#include <gtest/gtest.h>

namespace rocelane::net {
namespace {

bool same(const StripeImmediate& a, const StripeImmediate& b) {
  return a.slot == b.slot && a.buffer == b.buffer && a.stripe == b.stripe &&
         a.stripes == b.stripes && a.epoch == b.epoch;
}

TEST(StripeImmediate, EveryFieldSurvivesTheJourneyAtItsLimits) {
  for (const StripeImmediate& immediate :
       {StripeImmediate{0, 0, 0, 1, 0}, StripeImmediate{63, 7, 127, 128, 511},
        StripeImmediate{63, 0, 0, 1, 0}, StripeImmediate{0, 7, 0, 1, 0},
        StripeImmediate{0, 0, 127, 1, 0}, StripeImmediate{0, 0, 0, 128, 0},
        StripeImmediate{0, 0, 0, 1, 511}}) {
    EXPECT_TRUE(same(unpack_immediate(pack(immediate)), immediate)) << pack(immediate);
  }
}

TEST(StripeImmediate, NoBitsOfAPeerLeadOutsideTheTables) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 65521) {
    const StripeImmediate immediate = unpack_immediate(static_cast<uint32_t>(bits));
    ASSERT_LT(immediate.slot, kReceiveSlots);
    ASSERT_LT(immediate.buffer, kGroupedReceives);
    ASSERT_LT(immediate.stripe, kMaxStripes);
    ASSERT_GE(immediate.stripes, 1U);
    ASSERT_LE(immediate.stripes, kMaxStripes);
    ASSERT_LT(immediate.epoch, kEpochs);
  }
}

}  // namespace
}  // namespace rocelane::net
