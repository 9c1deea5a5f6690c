#include "gavel/type_speeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;

constexpr std::nullopt_t kUnknown = std::nullopt;

std::vector<TypeSpeed> Estimate(const KnownSpeeds& own, const std::vector<KnownSpeeds>& others) {
  return EstimateSpeeds(own, std::vector<std::vector<KnownSpeeds>>{others});
}

TEST(TypeSpeeds, KnownSpeedsStay) {
  EXPECT_THAT(Estimate({3, 0}, {{1, 1}}), ElementsAre(TypeSpeed{3, false}, TypeSpeed{0, false}));
}

TEST(TypeSpeeds, HalfIsTheNearestOnesAndHalfTheMean) {
  // The job is like the first of the others, in twice its unit; the second is of another kind.
  const std::vector<KnownSpeeds> others = {{4, 2, 1}, {1, 4, 3}};
  const auto speeds = Estimate({8, 4, kUnknown}, others);
  const double by_second = 3 * (8 * 1 + 4 * 4) / 17.0;
  EXPECT_TRUE(speeds[2].estimate);
  EXPECT_NEAR(speeds[2].throughput, 0.5 * 2 + 0.5 * (2 + by_second) / 2, 1e-12);
}

TEST(TypeSpeeds, OnOneTypeAloneAllAreAsNear) {
  const std::vector<KnownSpeeds> others = {{4, 2}, {1, 2}, {kUnknown, 100}};
  EXPECT_NEAR(Estimate({8, kUnknown}, others)[1].throughput, (4 + 16) / 2.0, 1e-12);
}

TEST(TypeSpeeds, UnknownJobIsLikeTheOthers) {
  const std::vector<KnownSpeeds> others = {{3, 1}, {30, 10}};
  EXPECT_THAT(Estimate({kUnknown, kUnknown}, others),
              ElementsAre(TypeSpeed{1.5, true}, TypeSpeed{0.5, true}));
}

TEST(TypeSpeeds, WithoutAnythingToGoByAllTypesAreAsOne) {
  EXPECT_THAT(Estimate({kUnknown, kUnknown}, {}),
              ElementsAre(TypeSpeed{1, true}, TypeSpeed{1, true}));
  EXPECT_THAT(Estimate({5, kUnknown}, {{kUnknown, 1}, {0, 1}}),
              ElementsAre(TypeSpeed{5, false}, TypeSpeed{5, true}));
}

TEST(TypeSpeeds, NoGroupDecidesAloneHoweverManyWorkloadsItHas) {
  const std::vector<std::vector<KnownSpeeds>> groups = {
      {{4, 2}}, {{4, 2}}, {{1, 100}, {1, 100}, {1, 100}}, {{kUnknown, 7}}};
  EXPECT_THAT(EstimateSpeeds({8, kUnknown}, groups),
              ElementsAre(TypeSpeed{8, false}, TypeSpeed{4, true}));
}

}  // namespace
}  // namespace synergy::testing
