#include "optimus/speed_curve.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr double kBatch = 64;

std::vector<SpeedPoint> PointsOf(const SpeedCurve& curve) {
  std::vector<SpeedPoint> points;
  for (const Tasks tasks :
       {Tasks{1, 4}, Tasks{2, 2}, Tasks{2, 9}, Tasks{3, 8}, Tasks{7, 6}, Tasks{8, 1}}) {
    points.push_back({tasks, curve.At(tasks)});
  }
  return points;
}

TEST(SpeedCurveTest, FormsAreThePapers) {
  EXPECT_DOUBLE_EQ((SpeedCurve{SpeedForm::kSynchronous, kBatch, {0.1, 2, 3, 4, 5}}).At({2, 4}),
                   1 / (0.1 * 64 / 4 + 2 + 3 * 4.0 / 2 + 4 * 4 + 5 * 2));
  EXPECT_DOUBLE_EQ((SpeedCurve{SpeedForm::kAsynchronous, kBatch, {1, 2, 3, 4}}).At({2, 4}),
                   4 / (1 + 2 * 4.0 / 2 + 3 * 4 + 4 * 2));
  EXPECT_DOUBLE_EQ((SpeedCurve{SpeedForm::kAllReduce, kBatch, {0.1, 2, 3}}).At({0, 4}),
                   1 / (0.1 * 64 / 4 + 2 + 3 * 4));
}

TEST(SpeedCurveTest, EveryFormIsFoundWithoutNoise) {
  for (const SpeedCurve& curve :
       {SpeedCurve{SpeedForm::kSynchronous, kBatch, {0.02, 0.13, 0.16, 0.004, 0.0036}},
        SpeedCurve{SpeedForm::kAsynchronous, kBatch, {1.1, 0.24, 0.045, 0.054}},
        SpeedCurve{SpeedForm::kAllReduce, kBatch, {0.02, 0.13, 0.004}}}) {
    const auto found = FitSpeed(curve.form, kBatch, PointsOf(curve));
    ASSERT_TRUE(found);
    ASSERT_EQ(found->factors.size(), curve.factors.size());
    for (size_t i = 0; i < curve.factors.size(); ++i) {
      EXPECT_NEAR(found->factors[i], curve.factors[i], 1e-9 * curve.factors[i]) << i;
    }
  }
}

TEST(SpeedCurveTest, FactorsAreNotNegative) {
  // The job is slightly more than twice as fast with twice as many workers, so only the factor a is
  // left.
  const std::vector<SpeedPoint> points = {{{0, 1}, 1}, {{0, 2}, 2.1}, {{0, 4}, 4.4}};
  const auto found = FitSpeed(SpeedForm::kAllReduce, 1, points);
  ASSERT_TRUE(found);
  EXPECT_GT(found->factors[0], 0);
  EXPECT_EQ(found->factors[1], 0);
  EXPECT_EQ(found->factors[2], 0);
}

TEST(SpeedCurveTest, NoneForTooFewDifferentPoints) {
  const SpeedCurve curve{SpeedForm::kAllReduce, kBatch, {0.02, 0.13, 0.004}};
  std::vector<SpeedPoint> points = {{{1, 1}, 1}, {{1, 2}, 1.5}, {{2, 2}, 1.4}, {{1, 4}, 0}};
  EXPECT_FALSE(FitSpeed(SpeedForm::kAllReduce, kBatch, points)) << "two numbers of workers";
  points.push_back({{1, 4}, 2});
  EXPECT_TRUE(FitSpeed(SpeedForm::kAllReduce, kBatch, points));
  EXPECT_FALSE(FitSpeed(SpeedForm::kAsynchronous, kBatch, {}));
}

}  // namespace
}  // namespace synergy::testing
