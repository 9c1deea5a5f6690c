#include "gavel/type_speeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::nullopt_t kUnknown = std::nullopt;

TEST(TypeSpeeds, KnownSpeedsStay) {
  EXPECT_THAT(EstimateSpeeds({3, 0}, std::vector<KnownSpeeds>{{1, 1}}),
              ElementsAre(TypeSpeed{3, false}, TypeSpeed{0, false}));
}

TEST(TypeSpeeds, HalfIsTheNearestOnesAndHalfTheMean) {
  // The job is like the first of the others, in twice its unit; the second is of another kind.
  const std::vector<KnownSpeeds> others = {{4, 2, 1}, {1, 4, 3}};
  const auto speeds = EstimateSpeeds({8, 4, kUnknown}, others);
  const double by_second = 3 * (8 * 1 + 4 * 4) / 17.0;
  EXPECT_TRUE(speeds[2].estimate);
  EXPECT_NEAR(speeds[2].throughput, 0.5 * 2 + 0.5 * (2 + by_second) / 2, 1e-12);
}

TEST(TypeSpeeds, OnOneTypeAloneAllAreAsNear) {
  const std::vector<KnownSpeeds> others = {{4, 2}, {1, 2}, {kUnknown, 100}};
  EXPECT_NEAR(EstimateSpeeds({8, kUnknown}, others)[1].throughput, (4 + 16) / 2.0, 1e-12);
}

TEST(TypeSpeeds, UnknownJobIsLikeTheOthers) {
  const std::vector<KnownSpeeds> others = {{3, 1}, {30, 10}};
  EXPECT_THAT(EstimateSpeeds({kUnknown, kUnknown}, others),
              ElementsAre(TypeSpeed{1.5, true}, TypeSpeed{0.5, true}));
}

TEST(TypeSpeeds, WithoutAnythingToGoByAllTypesAreAsOne) {
  EXPECT_THAT(EstimateSpeeds({kUnknown, kUnknown}, {}),
              ElementsAre(TypeSpeed{1, true}, TypeSpeed{1, true}));
  EXPECT_THAT(EstimateSpeeds({5, kUnknown}, std::vector<KnownSpeeds>{{kUnknown, 1}, {0, 1}}),
              ElementsAre(TypeSpeed{5, false}, TypeSpeed{5, true}));
}

}  // namespace
}  // namespace synergy::testing
