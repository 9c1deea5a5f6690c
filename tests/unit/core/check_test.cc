#include "core/check.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(CheckTest, AConditionThatHoldsDoesNothing) { SYNERGY_CHECK(1 + 1 == 2, "sums are sums"); }

TEST(CheckDeathTest, BrokenInvariantEndsTheProcessWithItsLocation) {
  const int pods = -1;
  EXPECT_DEATH(
      SYNERGY_CHECK(pods >= 0, "no node holds less than no pods"),
      "check_test\\.cc:[0-9]+: invariant broken: no node holds less than no pods \\(pods >= 0\\)");
}

}  // namespace
}  // namespace synergy::testing
