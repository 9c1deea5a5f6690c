#include "optimus/loss_curve.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr LossCurve kCurve = {.a = 0.2, .b = 0.5, .c = 0.3};

std::vector<LossPoint> PointsOf(const LossCurve& curve, int epochs, double factor = 1) {
  std::vector<LossPoint> points;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    points.push_back({static_cast<double>(epoch), factor * curve.At(epoch)});
  }
  return points;
}

void ExpectCurve(const std::optional<LossCurve>& found, const LossCurve& expected) {
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->a, expected.a, 1e-4 * expected.a);
  EXPECT_NEAR(found->b, expected.b, 1e-4 * expected.b);
  EXPECT_NEAR(found->c, expected.c, 1e-4 * expected.c);
}

TEST(LossCurveTest, IsFoundWithoutNoise) { ExpectCurve(FitLoss(PointsOf(kCurve, 12)), kCurve); }

TEST(LossCurveTest, UnitsDoNotMatter) {
  for (const double factor : {1e-6, 1e6}) {
    ExpectCurve(FitLoss(PointsOf(kCurve, 12, factor)),
                {.a = kCurve.a / factor, .b = kCurve.b / factor, .c = kCurve.c * factor});
  }
}

TEST(LossCurveTest, LimitsOfTheFormAreFound) {
  const LossCurve no_floor = {.a = 0.2, .b = 0.5, .c = 0};
  const auto without_floor = FitLoss(PointsOf(no_floor, 12));
  ASSERT_TRUE(without_floor);
  EXPECT_NEAR(without_floor->At(100), no_floor.At(100), 1e-4 * no_floor.At(100));
  const LossCurve steep = {.a = 2, .b = 0, .c = 0.1};
  const auto from_above = FitLoss(PointsOf(steep, 12));
  ASSERT_TRUE(from_above);
  EXPECT_NEAR(from_above->At(100), steep.At(100), 1e-4 * steep.At(100));
}

TEST(LossCurveTest, LaterPointsWeighMore) {
  // The curve changes after a third, so earlier points hardly count.
  std::vector<LossPoint> points = PointsOf(kCurve, 30);
  for (size_t i = 0; i < 10; ++i) points[i].loss += 0.1;
  const auto curve = FitLoss(points);
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->At(60), kCurve.At(60), 0.01);
}

TEST(LossCurveTest, OutliersAreLeftOut) {
  const std::vector<LossPoint> clean = PointsOf(kCurve, 15);
  EXPECT_THAT(WithoutOutliers(clean), ElementsAreArray(clean));
  for (const double off : {9.0, -9.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    std::vector<LossPoint> points = clean;
    points[10].loss = off;
    ExpectCurve(FitLoss(points), kCurve);
  }
}

TEST(LossCurveTest, TheLastPointIsAnOutlierOnlyAboveOthers) {
  std::vector<LossPoint> points = PointsOf(kCurve, 15);
  points.back().loss = 9;
  ExpectCurve(FitLoss(points), kCurve);
  points.back().loss = 0.1;
  EXPECT_THAT(WithoutOutliers(points), ElementsAreArray(points));
}

TEST(LossCurveTest, TheFirstPointIsAnOutlierOnlyBelowOthers) {
  // The loss falls so fast that the first point is far above the others.
  const std::vector<LossPoint> points = PointsOf({.a = 9, .b = -8.9, .c = 0}, 8);
  EXPECT_THAT(WithoutOutliers(points), ElementsAreArray(points));
}

TEST(LossCurveTest, NoneWithoutAFallOrWithTooFewPoints) {
  EXPECT_FALSE(FitLoss({}));
  EXPECT_FALSE(FitLoss(PointsOf(kCurve, 2)));
  const std::vector<LossPoint> rises = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  EXPECT_FALSE(FitLoss(rises));
  const std::vector<LossPoint> nothing = {{0, 0}, {0, 0}, {0, 0}};
  EXPECT_FALSE(FitLoss(nothing));
}

TEST(LossCurveTest, ComputesTheEpochThatReachesALoss) {
  const auto epoch = EpochOfLoss(kCurve, kCurve.At(17.5));
  ASSERT_TRUE(epoch);
  EXPECT_NEAR(*epoch, 17.5, 1e-9);
  EXPECT_FALSE(EpochOfLoss(kCurve, kCurve.c));
  EXPECT_EQ(EpochOfLoss(kCurve, 100), 0);
}

TEST(LossCurveTest, ConvergesWhenTenEpochsBringLittle) {
  const double epoch = EpochOfConvergence(kCurve);
  const auto brings = [](double at) { return 1 - kCurve.At(at) / kCurve.At(at - 10); };
  EXPECT_EQ(epoch, std::floor(epoch));
  EXPECT_LT(brings(epoch), 0.05);
  EXPECT_GE(brings(epoch - 1), 0.05);
  EXPECT_EQ(EpochOfConvergence({.a = 1e-6, .b = 1, .c = 0}), 10);
}

TEST(LossCurveTest, RemainingEpochsFollowFromTheTargetLoss) {
  EXPECT_NEAR(EpochsLeft(kCurve, 12, kCurve.At(40)), 28, 1e-9);
  const double converged = EpochOfConvergence(kCurve) - 12;
  EXPECT_EQ(EpochsLeft(kCurve, 12, std::nullopt), converged);
  EXPECT_EQ(EpochsLeft(kCurve, 12, kCurve.c), converged) << "is never reached";
  EXPECT_EQ(EpochsLeft(kCurve, 12, kCurve.At(5)), 1) << "was reached, by the curve";
}

}  // namespace
}  // namespace synergy::testing
